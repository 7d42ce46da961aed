// Drives Oracle's own SDK against fake_oci. Ends with status 1 at the first thing
// that is not as it should be.
//
// usage: node sdk_test.js ENDPOINT CONFIG_DIR REQUEST_LOG
'use strict';

const assert = require('assert');
const fs = require('fs');
const common = require('oci-common');
const loadbalancer = require('oci-loadbalancer');

const [endpoint, configDir, requestLog] = process.argv.slice(2);
const loadBalancerId = 'ocid1.loadbalancer.oc1.iad.example';
const backendSetName = 'bs_f151df96ee98ff0';
const backendName = '10.0.0.3:8080';

const client = new loadbalancer.LoadBalancerClient(
    {
      authenticationDetailsProvider:
          new common.ConfigFileAuthenticationDetailsProvider(`${configDir}/config`, 'DEFAULT'),
    },
    {retryConfiguration: common.NoRetryConfigurationDetails, circuitBreaker: new common.CircuitBreaker(null, true)});
client.endpoint = endpoint;

function lastRequest() {
  const lines = fs.readFileSync(requestLog, 'utf8').trim().split('\n');
  return JSON.parse(lines[lines.length - 1]);
}

async function statusOf(promise) {
  try {
    await promise;
  } catch (error) {
    assert(error instanceof common.OciError, String(error));
    return `${error.statusCode} ${error.serviceCode}`;
  }
  return 'success';
}

async function finished(workRequestId) {
  for (;;) {
    const {workRequest} = await client.getWorkRequest({workRequestId});
    if (workRequest.timeFinished) return workRequest;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function read() {
  return client.getLoadBalancer({loadBalancerId});
}

async function decodesALoadBalancer() {
  const {loadBalancer, eTag, opcRequestId} = await read();
  assert(eTag && opcRequestId);
  assert.strictEqual(loadBalancer.id, loadBalancerId);
  assert.strictEqual(loadBalancer.lifecycleState, loadbalancer.models.LoadBalancer.LifecycleState.Active);
  assert(Date.parse(loadBalancer.timeCreated) > 0);
  const set = loadBalancer.backendSets[backendSetName];
  assert.strictEqual(set.policy, 'LEAST_CONNECTIONS');
  assert.strictEqual(set.healthChecker.urlPath, '/ready');
  assert.strictEqual(set.backendMaxConnections, 300);
  assert.strictEqual(set.sslConfiguration.verifyDepth, 3);
  assert.strictEqual(set.lbCookieSessionPersistenceConfiguration.cookieName, 'X-Oracle-BMC-LBS-Route');
  assert.deepStrictEqual(set.backends[0], {
    name: backendName, ipAddress: '10.0.0.3', port: 8080, weight: 2, maxConnections: 256,
    drain: false, backup: false, offline: false,
  });
  const alone = await client.getBackend({loadBalancerId, backendSetName, backendName});
  assert.strictEqual(alone.backend.name, backendName);
  assert.strictEqual(lastRequest().target.split('/').pop(), '10.0.0.3%3A8080');
  assert.strictEqual(lastRequest().client, 'config', 'the signature was verified');
}

async function drainsOneBackend() {
  const {eTag} = await read();
  const updateBackendDetails = {weight: 2, maxConnections: 256, backup: false, drain: true, offline: false};
  const answer = await client.updateBackend(
      {loadBalancerId, backendSetName, backendName, ifMatch: eTag, updateBackendDetails});
  assert.strictEqual(lastRequest().headers['if-match'], eTag, 'if-match arrived');
  assert(lastRequest().headers['opc-retry-token'] !== '');
  const work = await finished(answer.opcWorkRequestId);
  assert.strictEqual(work.lifecycleState, loadbalancer.models.WorkRequest.LifecycleState.Succeeded);
  assert.strictEqual(work.type, 'UpdateBackend');
  assert(Date.parse(work.timeFinished) - Date.parse(work.timeAccepted) >= 200);
  const set = (await read()).loadBalancer.backendSets[backendSetName];
  assert.strictEqual(set.backends[0].drain, true);
  assert.strictEqual(set.backends[0].weight, 2);
  assert.strictEqual(set.backendMaxConnections, 300);
  // The same eTag again is stale by now.
  assert.strictEqual(
      await statusOf(client.updateBackend(
          {loadBalancerId, backendSetName, backendName, ifMatch: eTag, updateBackendDetails})),
      '412 NoEtagMatch');
}

async function replacesASet() {
  const {loadBalancer, eTag} = await read();
  const set = loadBalancer.backendSets[backendSetName];
  const backends = set.backends.map(({name, ...rest}) => rest);
  backends.push({ipAddress: '10.0.0.4', port: 8080});
  const {name, ...rest} = set;
  const answer = await client.updateBackendSet(
      {loadBalancerId, backendSetName, ifMatch: eTag, updateBackendSetDetails: {...rest, backends}});
  assert.strictEqual((await finished(answer.opcWorkRequestId)).lifecycleState, 'SUCCEEDED');
  const after = (await read()).loadBalancer.backendSets[backendSetName];
  assert.deepStrictEqual({...after, backends: []}, {...set, backends: []});
  assert.deepStrictEqual(after.backends.map((b) => `${b.name} ${b.drain}`),
                         ['10.0.0.3:8080 true', '10.0.0.4:8080 false']);
}

async function refusesWhatIsWrong() {
  const {eTag} = await read();
  assert.strictEqual(await statusOf(client.getLoadBalancer({loadBalancerId: 'ocid1.none'})),
                     '404 NotAuthorizedOrNotFound');
  assert.strictEqual(
      await statusOf(client.updateBackend({
        loadBalancerId, backendSetName, backendName, ifMatch: eTag,
        updateBackendDetails: {weight: 2, backup: false, drain: true},
      })),
      '400 MissingParameter');
  const stranger = new loadbalancer.LoadBalancerClient({
    authenticationDetailsProvider: new common.SimpleAuthenticationDetailsProvider(
        'ocid1.tenancy.none', 'ocid1.user.none', 'aa:bb', fs.readFileSync(`${configDir}/key.pem`, 'utf8'),
        null, common.Region.US_ASHBURN_1),
  }, {retryConfiguration: common.NoRetryConfigurationDetails});
  stranger.endpoint = endpoint;
  assert.strictEqual(await statusOf(stranger.getLoadBalancer({loadBalancerId})), '401 NotAuthenticated');
}

async function listsWorkRequestsInPages() {
  const types = [];
  let pages = 0;
  let page;
  do {
    const answer = await client.listWorkRequests({loadBalancerId, limit: 1, page});
    types.push(...answer.items.map((work) => work.type));
    page = answer.opcNextPage;
    pages++;
  } while (page);
  assert.deepStrictEqual(types, ['UpdateBackendSet', 'UpdateBackend']);
  assert.strictEqual(pages, 2);
}

async function tellsHealth() {
  const set = (await client.getBackendSetHealth({loadBalancerId, backendSetName})).backendSetHealth;
  assert.strictEqual(set.totalBackendCount, 2);
  assert.deepStrictEqual(set.unknownStateBackendNames, ['10.0.0.3:8080', '10.0.0.4:8080']);
  const one = (await client.getBackendHealth({loadBalancerId, backendSetName, backendName})).backendHealth;
  assert.strictEqual(one.status, loadbalancer.models.BackendHealth.Status.Unknown);
  const all = (await client.getLoadBalancerHealth({loadBalancerId})).loadBalancerHealth;
  assert.strictEqual(all.totalBackendSetCount, 1);
}

(async () => {
  for (const part of [decodesALoadBalancer, drainsOneBackend, replacesASet, refusesWhatIsWrong,
                      listsWorkRequestsInPages, tellsHealth]) {
    await part();
    console.log(`ok ${part.name}`);
  }
})().catch((error) => {
  console.error(error);
  process.exit(1);
});

#include "bench/mass_cluster.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/clock.h"
#include "kube/recorded.h"
#include "oci/backend_set_name.h"
#include "sim/load_balancer_document.h"

namespace bench {
namespace {

using sim::JsonTree;

constexpr int kServicePort = 80;
constexpr int kBackendPort = 8080;
constexpr int kPodsOfAnOwner = 50;  // of those that are not published
constexpr size_t kPageLimit = 500;
constexpr char kDrainingAnnotation[] = "oci-native-ingress.oraclecloud.com/backend-draining";
constexpr char kIdAnnotation[] = "oci-native-ingress.oraclecloud.com/id";
constexpr char kServiceLabel[] = "kubernetes.io/service-name";

// What each Pod has of its own, in the order of Names::InOrder.
constexpr absl::string_view kMarks[] = {"@name@",    "@ns@",    "@uid@",
                                        "@version@", "@owner@", "@owneruid@"};

struct Kind {
  absl::string_view list;
  absl::string_view recorded;  // empty: none is shown
};
const std::map<std::string, Kind>& Kinds() {
  static const auto* const kinds = new std::map<std::string, Kind>{
      {"services", {"ServiceList", "service-list"}},
      {"ingresses", {"IngressList", "ingress-list"}},
      {"ingressclasses", {"IngressClassList", "ingressclass-list"}},
      {"endpointslices", {"EndpointSliceList", "endpointslices-list"}},
      {"deployments", {"DeploymentList", "deployment-list"}},
      {"statefulsets", {"StatefulSetList", ""}},
      {"replicasets", {"PartialObjectMetadataList", "replicaset-list"}},
      {"pods", {"PartialObjectMetadataList", "pods-list-metadata"}},
      {"leases", {"LeaseList", ""}},
      {"horizontalpodautoscalers", {"HorizontalPodAutoscalerList", ""}},
      {"poddisruptionbudgets", {"PodDisruptionBudgetList", ""}},
  };
  return *kinds;
}

JsonTree FirstRecorded(absl::string_view name) {
  return JsonTree::Parse(kube::ReadRecorded(std::string(name)).body, name)
      .value()["items"]
      .items()[0];
}

std::string Uid(int kind, int64_t n) {
  return absl::StrFormat("%08x-43c6-4d8e-947b-%012x", kind, n);
}

void Name(JsonTree& object, absl::string_view ns, absl::string_view name, absl::string_view uid) {
  JsonTree& metadata = object.Child("metadata");
  metadata.Set("name", name);
  metadata.Set("uid", uid);
  if (!ns.empty()) metadata.Set("namespace", ns);
}

JsonTree Owner(absl::string_view kind, absl::string_view name, absl::string_view uid) {
  return JsonTree::Array{JsonTree::Object{{"apiVersion", "apps/v1"},
                                          {"kind", kind},
                                          {"name", name},
                                          {"uid", uid},
                                          {"controller", true},
                                          {"blockOwnerDeletion", true}}};
}

http::Response Json(int status, std::string body) {
  return {
      .status = status, .headers = {{"Content-Type", "application/json"}}, .body = std::move(body)};
}

http::Response Refusal(int status, absl::string_view reason) {
  return Json(status, absl::StrCat(R"({"kind":"Status","apiVersion":"v1","status":"Failure",)",
                                   R"("reason":")", reason, R"(","code":)", status, "}"));
}

std::string QueryValue(absl::string_view query, absl::string_view name) {
  for (absl::string_view part : absl::StrSplit(query, '&')) {
    if (absl::ConsumePrefix(&part, name) && absl::ConsumePrefix(&part, "=")) {
      return std::string(part);
    }
  }
  return "";
}

}  // namespace

struct MassCluster::Names {
  std::string name;
  std::string ns;
  std::string uid;
  std::string version;
  std::string owner;
  std::string owner_uid;

  std::vector<const std::string*> InOrder() const {
    return {&name, &ns, &uid, &version, &owner, &owner_uid};
  }
};

absl::StatusOr<std::unique_ptr<MassCluster>> MassCluster::Start(const MassShape& shape,
                                                                OnLedger on_ledger) {
  std::unique_ptr<MassCluster> cluster(new MassCluster(shape, std::move(on_ledger)));
  auto server = sim::HttpServer::Start(
      [&cluster = *cluster](const http::Request& request) { return cluster.Handle(request); });
  if (!server.ok()) return server.status();
  cluster->server_ = *std::move(server);
  return cluster;
}

MassCluster::~MassCluster() {
  if (server_ != nullptr) server_->Stop();
}

MassCluster::MassCluster(const MassShape& shape, OnLedger on_ledger)
    : shape_(shape), on_ledger_(std::move(on_ledger)) {
  for (const auto& [resource, kind] : Kinds()) {
    tables_[resource];
    if (!kind.recorded.empty()) templates_[resource] = FirstRecorded(kind.recorded);
  }
  for (int ns = 0; ns < shape_.namespaces; ++ns) {
    for (int i = ns; i < shape_.load_balancers; i += shape_.namespaces) {
      RenderClass(i);
      for (int j = 0; j < shape_.services; ++j) RenderService(i, j);
    }
  }
  RenderPods();
}

std::string MassCluster::Namespace(int load_balancer) const {
  return absl::StrFormat("team-%03d", load_balancer % shape_.namespaces);
}

std::string MassCluster::ServiceName(int load_balancer, int service) const {
  return absl::StrFormat("web-%03d-%02d", load_balancer, service);
}

std::string MassCluster::Ocid(int load_balancer) {
  return absl::StrFormat("ocid1.loadbalancer.oc1.iad.mass%03d", load_balancer);
}

std::string MassCluster::SetName(int load_balancer, int service) const {
  return oci::GenerateBackendSetName(Namespace(load_balancer), ServiceName(load_balancer, service),
                                     kServicePort)
      .value();
}

std::string MassCluster::IpOf(const MassPod& pod) {
  return absl::StrFormat("10.%d.%d.%d", pod.load_balancer + 1, pod.service * 4 + pod.pod / 200,
                         pod.pod % 200 + 1);
}

std::string MassCluster::LoadBalancerJson(int load_balancer) const {
  std::map<std::string, std::vector<std::string>> sets;
  for (int j = 0; j < shape_.services; ++j) {
    std::vector<std::string>& set = sets[SetName(load_balancer, j)];
    for (int k = 0; k < shape_.published_each(); ++k) {
      set.push_back(absl::StrCat(IpOf({load_balancer, j, k}), ":", kBackendPort));
    }
  }
  return sim::MakeLoadBalancerJson(Ocid(load_balancer), sets);
}

void MassCluster::RenderClass(int load_balancer) {
  const std::string name = absl::StrFormat("oci-%03d", load_balancer);
  JsonTree item = templates_["ingressclasses"];
  Name(item, "", name, Uid(1, load_balancer));
  item.Child("metadata").Child("annotations").Set(kIdAnnotation, Ocid(load_balancer));
  tables_["ingressclasses"].Add("", item.Dump());

  JsonTree ingress = templates_["ingresses"];
  Name(ingress, Namespace(load_balancer), name, Uid(2, load_balancer));
  JsonTree::Array paths;
  for (int j = 0; j < shape_.services; ++j) {
    const JsonTree::Object service{{"name", ServiceName(load_balancer, j)},
                                   {"port", JsonTree::Object{{"number", kServicePort}}}};
    paths.emplace_back(JsonTree::Object{{"path", absl::StrCat("/", j)},
                                        {"pathType", "Prefix"},
                                        {"backend", JsonTree::Object{{"service", service}}}});
  }
  ingress.Child("spec").Set("ingressClassName", name);
  ingress.Child("spec").Set(
      "rules",
      JsonTree::Array{JsonTree::Object{{"http", JsonTree::Object{{"paths", std::move(paths)}}}}});
  tables_["ingresses"].Add(Namespace(load_balancer), ingress.Dump());
}

void MassCluster::RenderService(int load_balancer, int service) {
  const std::string ns = Namespace(load_balancer);
  const std::string name = ServiceName(load_balancer, service);
  const int64_t number = load_balancer * 1000 + service;
  JsonTree item = templates_["services"];
  Name(item, ns, name, Uid(3, number));
  item.Child("metadata").Child("annotations").Set(kDrainingAnnotation, "true");
  tables_["services"].Add(ns, item.Dump());

  // As the controller of slices makes them: at most 100 endpoints each.
  constexpr int kSliceSize = 100;
  const JsonTree endpoint = templates_["endpointslices"]["endpoints"].items()[0];
  for (int from = 0; from < shape_.published_each(); from += kSliceSize) {
    JsonTree slice = templates_["endpointslices"];
    Name(slice, ns, absl::StrCat(name, "-", from), Uid(4, number * 10 + from / kSliceSize));
    slice.Child("metadata").Child("labels").Set(kServiceLabel, name);
    JsonTree::Array endpoints;
    for (int k = from; k < std::min(from + kSliceSize, shape_.published_each()); ++k) {
      const MassPod pod{load_balancer, service, k};
      const Names names = NamesOf(pod);
      JsonTree one = endpoint;
      one.Set("addresses", JsonTree::Array{JsonTree(IpOf(pod))});
      JsonTree& target = one.Child("targetRef");
      target.Set("namespace", ns);
      target.Set("name", names.name);
      target.Set("uid", names.uid);
      endpoints.push_back(std::move(one));
    }
    slice.Set("endpoints", std::move(endpoints));
    tables_["endpointslices"].Add(ns, slice.Dump());
  }
}

MassCluster::Names MassCluster::NamesOf(const MassPod& pod) const {
  const int64_t service = pod.load_balancer * 1000 + pod.service;
  Names names;
  names.ns = Namespace(pod.load_balancer);
  names.owner = absl::StrCat(ServiceName(pod.load_balancer, pod.service), "-5b774487c9");
  names.owner_uid = Uid(6, service);
  names.name = absl::StrFormat("%s-%05x", names.owner, pod.pod);
  names.uid = Uid(7, service * 1000 + pod.pod);
  names.version = absl::StrCat(1'000'000 + service * 1000 + pod.pod);
  return names;
}

MassCluster::Names MassCluster::NamesOfBystander(int i) const {
  const int in_namespace = i / shape_.namespaces;
  const int owner = in_namespace / kPodsOfAnOwner;
  Names names;
  names.ns = Namespace(i % shape_.namespaces);
  names.owner = absl::StrFormat("app-%05d-586f58ffdb", owner);
  names.owner_uid = Uid(8, i % shape_.namespaces * 100'000 + owner);
  names.name = absl::StrFormat("%s-%05x", names.owner, in_namespace % kPodsOfAnOwner);
  names.uid = Uid(9, i);
  names.version = absl::StrCat(5'000'000 + i);
  return names;
}

std::string MassCluster::RenderPod(const Names& names, absl::string_view deletion) const {
  std::string text = pod_pieces_.front();
  const std::vector<const std::string*> values = names.InOrder();
  for (size_t i = 1; i < pod_pieces_.size(); ++i) {
    // Each piece begins with the number of the mark that it follows.
    const auto mark = static_cast<size_t>(pod_pieces_[i].front());
    text += *values[mark];
    // The quote that closes the version closes the deletion, too.
    if (mark == 3) absl::StrAppend(&text, deletion);
    text.append(pod_pieces_[i], 1);
  }
  return text;
}

void MassCluster::RenderPods() {
  JsonTree pod = templates_["pods"];
  Name(pod, kMarks[1], kMarks[0], kMarks[2]);
  pod.Child("metadata").Set("resourceVersion", kMarks[3]);
  pod.Child("metadata").Set("ownerReferences", Owner("ReplicaSet", kMarks[4], kMarks[5]));
  std::string rest = pod.Dump();
  pod_pieces_ = {""};
  while (!rest.empty()) {
    size_t first = std::string::npos;
    size_t mark = 0;
    for (size_t i = 0; i < std::size(kMarks); ++i) {
      const size_t at = rest.find(std::string(kMarks[i]));
      if (at < first) first = at, mark = i;
    }
    pod_pieces_.back() += rest.substr(0, first);
    if (first == std::string::npos) break;
    rest = rest.substr(first + kMarks[mark].size());
    pod_pieces_.emplace_back(1, static_cast<char>(mark));
  }

  std::set<std::string> owners;
  const auto add = [&](const Names& names) {
    tables_["pods"].Add(names.ns, RenderPod(names, ""));
    if (!owners.insert(names.owner_uid).second) return;
    const std::string deployment = names.owner.substr(0, names.owner.rfind('-'));
    const std::string uid =
        absl::StrCat(names.owner_uid.substr(0, 8), "-5555", names.owner_uid.substr(13));
    JsonTree set = templates_["replicasets"];
    Name(set, names.ns, names.owner, names.owner_uid);
    set.Child("metadata").Set("ownerReferences", Owner("Deployment", deployment, uid));
    tables_["replicasets"].Add(names.ns, set.Dump());
    JsonTree item = templates_["deployments"];
    Name(item, names.ns, deployment, uid);
    item.Child("spec").Set("replicas", shape_.published_each());
    tables_["deployments"].Add(names.ns, item.Dump());
  };
  const int bystanders = shape_.pods - shape_.load_balancers * shape_.published;
  for (int ns = 0; ns < shape_.namespaces; ++ns) {
    for (int i = ns; i < shape_.load_balancers; i += shape_.namespaces) {
      for (int j = 0; j < shape_.services; ++j) {
        for (int k = 0; k < shape_.published_each(); ++k) add(NamesOf({i, j, k}));
      }
    }
    for (int i = ns; i < bystanders; i += shape_.namespaces) add(NamesOfBystander(i));
  }
}

std::vector<std::string> MassCluster::PodPages(bool by_namespace) const {
  std::vector<std::string> targets;
  const auto add = [&](absl::string_view path, const std::string& ns) {
    const size_t size = tables_.at("pods").Size(ns);
    for (size_t from = 0; from < size; from += kPageLimit) {
      targets.push_back(absl::StrCat(path, "?limit=", kPageLimit,
                                     from == 0 ? "" : absl::StrCat("&continue=", from)));
    }
  };
  if (!by_namespace) add("/api/v1/pods", "");
  for (int i = 0; by_namespace && i < shape_.namespaces; ++i) {
    add(absl::StrCat("/api/v1/namespaces/", Namespace(i), "/pods"), Namespace(i));
  }
  return targets;
}

sim::Answer MassCluster::Handle(const http::Request& request) {
  const std::vector<std::string> target = absl::StrSplit(request.target, absl::MaxSplits('?', 1));
  const std::string query = target.size() > 1 ? target[1] : "";
  std::vector<std::string> parts = absl::StrSplit(target[0], '/', absl::SkipEmpty());
  // "api/v1/..." or "apis/<group>/<version>/...".
  parts.erase(parts.begin(),
              parts.begin() + std::min<long>(parts[0] == "api" ? 2 : 3, parts.size()));
  std::string ns;
  if (parts.size() > 2 && parts[0] == "namespaces") {
    ns = parts[1];
    parts.erase(parts.begin(), parts.begin() + 2);
  }
  if (parts.empty()) return Refusal(404, "NotFound");
  const std::string resource = parts[0];
  if (request.method != "GET" || resource == "configmaps" ||
      (resource == "leases" && !ns.empty() && query.empty())) {
    return Store(request, resource, target[0]);
  }
  if (parts.size() == 2 && resource == "endpoints") return EndpointsOf(ns, parts[1]);
  if (parts.size() > 1 || tables_.count(resource) == 0) return Refusal(404, "NotFound");
  if (absl::StrContains(query, "watch=1")) return WatchOf(resource, ns);
  return List(resource, ns, query);
}

sim::Answer MassCluster::List(const std::string& resource, const std::string& ns,
                              absl::string_view query) const {
  size_t limit = kPageLimit;
  size_t from = 0;
  static_cast<void>(absl::SimpleAtoi(QueryValue(query, "limit"), &limit));
  static_cast<void>(absl::SimpleAtoi(QueryValue(query, "continue"), &from));
  std::string page = tables_.at(resource).Page(ns, Kinds().at(resource).list, from, limit);
  if (resource == "pods") {
    absl::MutexLock lock(&mutex_);
    list_bytes_ += page.size();
  }
  return Json(200, std::move(page));
}

sim::Answer MassCluster::WatchOf(const std::string& resource, const std::string& ns) {
  sim::Answer answer(Json(200, ""));
  answer.stream = [this, resource, ns](sim::StreamWriter& writer) {
    Watch watch{resource, ns, &writer};
    {
      absl::MutexLock lock(&mutex_);
      watches_.insert(&watch);
      last_watch_began_ = base::RealClock().Now();
    }
    writer.WaitUntilClosed(absl::Hours(24));
    absl::MutexLock lock(&mutex_);
    watches_.erase(&watch);
  };
  return answer;
}

// ConfigMaps and Leases are kept; an Event is only answered.
sim::Answer MassCluster::Store(const http::Request& request, const std::string& resource,
                               absl::string_view path) {
  const absl::Time received = base::RealClock().Now();
  std::string key(path);
  if (request.method == "GET") {
    absl::MutexLock lock(&mutex_);
    const auto it = stored_.find(key);
    return it == stored_.end() ? Refusal(404, "NotFound") : Json(200, it->second.Dump());
  }
  absl::StatusOr<JsonTree> body = JsonTree::Parse(request.body, "body");
  if (!body.ok()) return Refusal(400, "BadRequest");
  const std::string name = (*body)["metadata"]["name"].AsString();
  if (request.method == "POST") absl::StrAppend(&key, "/", name);
  if (resource == "configmaps" && on_ledger_) on_ledger_(name, received);
  absl::MutexLock lock(&mutex_);
  body->Child("metadata").Set("resourceVersion", absl::StrCat(++version_));
  if (resource == "configmaps" || resource == "leases") {
    const auto before = stored_.find(key);
    if (request.method == "POST" && before != stored_.end()) return Refusal(409, "AlreadyExists");
    stored_[key] = *body;
  }
  return Json(request.method == "POST" ? 201 : 200, body->Dump());
}

http::Response MassCluster::EndpointsOf(const std::string& ns, const std::string& service) const {
  int load_balancer = 0;
  int number = 0;
  if (sscanf(service.c_str(), "web-%d-%d", &load_balancer, &number) != 2) {
    return Refusal(404, "NotFound");
  }
  std::string addresses;
  for (int k = 0; k < shape_.published_each(); ++k) {
    const MassPod pod{load_balancer, number, k};
    const Names names = NamesOf(pod);
    absl::StrAppend(&addresses, addresses.empty() ? "" : ",", R"({"ip":")", IpOf(pod),
                    R"(","nodeName":"node-1","targetRef":{"kind":"Pod","namespace":")", ns,
                    R"(","name":")", names.name, R"(","uid":")", names.uid, R"("}})");
  }
  return Json(200, absl::StrCat(R"({"kind":"Endpoints","apiVersion":"v1","metadata":{"name":")",
                                service, R"(","namespace":")", ns,
                                R"(","resourceVersion":"1"},"subsets":[{"addresses":[)", addresses,
                                R"(],"ports":[{"name":"http","port":)", kBackendPort,
                                R"(,"protocol":"TCP"}]}]})"));
}

void MassCluster::Send(absl::string_view resource, absl::string_view ns, absl::string_view line) {
  absl::MutexLock lock(&mutex_);
  for (const Watch* watch : watches_) {
    if (watch->resource == resource && (watch->ns.empty() || watch->ns == ns)) {
      watch->writer->Write(line);
    }
  }
}

absl::Time MassCluster::Delete(const MassPod& pod, absl::Duration grace) {
  Names names = NamesOf(pod);
  {
    absl::MutexLock lock(&mutex_);
    names.version = absl::StrCat(++version_);
  }
  const std::string deletion = absl::StrCat(
      R"(","deletionGracePeriodSeconds":)", absl::ToInt64Seconds(grace),
      R"(,"deletionTimestamp":")",
      absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", base::RealClock().Now() + grace, absl::UTCTimeZone()));
  const std::string line =
      absl::StrCat(R"({"type":"MODIFIED","object":)", RenderPod(names, deletion), "}\n");
  const absl::Time before = base::RealClock().Now();
  Send("pods", names.ns, line);
  return before;
}

void MassCluster::Touch(int i) {
  Names names = NamesOfBystander(i);
  {
    absl::MutexLock lock(&mutex_);
    names.version = absl::StrCat(++version_);
  }
  Send("pods", names.ns,
       absl::StrCat(R"({"type":"MODIFIED","object":)", RenderPod(names, ""), "}\n"));
}

void MassCluster::ScaleToZero(int load_balancer, int service) {
  const Names names = NamesOf({load_balancer, service, 0});
  JsonTree item = templates_["deployments"];
  Name(item, names.ns, names.owner.substr(0, names.owner.rfind('-')),
       absl::StrCat(names.owner_uid.substr(0, 8), "-5555", names.owner_uid.substr(13)));
  item.Child("spec").Set("replicas", 0);
  Send("deployments", names.ns,
       absl::StrCat(R"({"type":"MODIFIED","object":)", item.Dump(), "}\n"));
}

bool MassCluster::AwaitWatched(int pod_watches, absl::Duration patience) const {
  // Services, Ingresses, their classes, slices, Deployments, StatefulSets, ReplicaSets.
  constexpr size_t kOthers = 7;
  absl::MutexLock lock(&mutex_);
  const auto watched = [&] {
    mutex_.AssertHeld();
    std::set<std::string> others;
    int pods = 0;
    for (const Watch* watch : watches_) {
      if (watch->resource == "pods") ++pods;
      if (watch->resource != "pods" && watch->resource != "leases") others.insert(watch->resource);
    }
    return pods == pod_watches && others.size() == kOthers;
  };
  return mutex_.AwaitWithTimeout(absl::Condition(&watched), patience);
}

}  // namespace bench

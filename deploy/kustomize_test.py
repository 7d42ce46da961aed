#!/usr/bin/env python3
"""Checks what kubectl made of deploy/kustomize/.

usage: kustomize_test.py FOLDER HELP
  FOLDER  holds NAME.yaml, rendered, for the base and each overlay
  HELP    what oci-drain-controller --help printed
"""

import re
import sys
import unittest

import manifests
from manifests import NAME

FOLDER = HELP = ""
OVERLAYS = ["workload-identity", "secret", "pod-conditions", "withdrawal", "everything"]
POD = f"Deployment {NAME}.spec.template.spec"
IN_POD = f"{POD}.containers[controller]"
EGRESS = f"NetworkPolicy {NAME}.spec.egress"

# What each overlay takes away from the base and adds to it.
METADATA = (EGRESS + ': {"ports": [{"port": 80, "protocol": "TCP"}], '
            '"to": [{"ipBlock": {"cidr": "169.254.169.254/32"}}]}')
AS_NODE = {IN_POD + '.args: "--auth=instance"', METADATA}
AS_WORKLOAD = {
    IN_POD + '.args: "--auth=workload"',
    IN_POD + '.env[OCI_RESOURCE_PRINCIPAL_VERSION].value: "2.2"',
    IN_POD + '.env[OCI_RESOURCE_PRINCIPAL_REGION].value: "us-ashburn-1"',
    EGRESS + ': {"ports": [{"port": 12250, "protocol": "TCP"}]}',
}
AS_USER = {
    IN_POD + '.args: "--auth=secret"',
    IN_POD + '.volumeMounts[oci-config].mountPath: "/etc/oci"',
    IN_POD + ".volumeMounts[oci-config].readOnly: true",
    POD + '.volumes[oci-config].secret.secretName: "oci-config"',
    POD + f".volumes[oci-config].secret.defaultMode: {0o440}",
}


def cluster_role(name, rules):
    role = f"{NAME}-{name}"
    group = "rbac.authorization.k8s.io"
    objects = {
        ("ClusterRole", role): {
            "apiVersion": group + "/v1", "kind": "ClusterRole", "metadata": {"name": role},
            "rules": [{"apiGroups": [of], "resources": [resource], "verbs": [verb]}
                      for of, resource, verb in rules]},
        ("ClusterRoleBinding", role): {
            "apiVersion": group + "/v1", "kind": "ClusterRoleBinding", "metadata": {"name": role},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": NAME}]},
    }
    return manifests.lines(objects)


CONDITIONS = ({IN_POD + '.args: "--pod_conditions=both"'}
              | cluster_role("pod-conditions", [("", "pods/status", "patch")]))
WITHDRAWAL = ({IN_POD + '.args: "--capacity_action=withdraw"'}
              | cluster_role("withdrawal", [("", "pods", "patch"),
                                            ("policy", "poddisruptionbudgets", "list")]))
DIFFERENCES = {
    "workload-identity": (AS_NODE, AS_WORKLOAD),
    "secret": (AS_NODE, AS_USER),
    "pod-conditions": (set(), CONDITIONS),
    "withdrawal": (set(), WITHDRAWAL),
    "everything": (AS_NODE, AS_WORKLOAD | CONDITIONS | WITHDRAWAL),
}


class Kustomize(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = manifests.load(f"{FOLDER}/base.yaml")
        cls.overlays = {name: manifests.load(f"{FOLDER}/{name}.yaml") for name in OVERLAYS}
        with open(HELP, encoding="utf-8") as file:
            cls.flags = manifests.flags(file.read())
        cls.pod = manifests.pod(cls.base)
        cls.container = manifests.container(cls.base)
        cls.ports = {port["name"]: port["containerPort"] for port in cls.container["ports"]}

    def test_the_base_has_these_objects(self):
        self.assertEqual(set(self.base), {
            ("Namespace", NAME), ("ServiceAccount", NAME), ("ClusterRole", NAME),
            ("ClusterRoleBinding", NAME), ("Role", NAME), ("RoleBinding", NAME),
            ("Deployment", NAME), ("PodDisruptionBudget", NAME), ("Service", "oci-drain-barrier"),
            ("NetworkPolicy", NAME)})

    def test_what_has_a_namespace_is_in_ours(self):
        for (kind, name), value in self.base.items():
            if kind.startswith("Cluster") or kind == "Namespace":
                self.assertNotIn("namespace", value["metadata"])
            else:
                self.assertEqual(value["metadata"]["namespace"], NAME, name)

    def test_each_overlay_changes_what_it_says(self):
        self.maxDiff = None
        base = manifests.lines(self.base)
        for name, (taken, added) in DIFFERENCES.items():
            overlay = manifests.lines(self.overlays[name])
            self.assertEqual(base - overlay, taken, name)
            self.assertEqual(overlay - base, added, name)

    def test_every_flag_exists(self):
        self.assertGreater(len(self.flags), 20)
        for objects in [self.base, *self.overlays.values()]:
            for argument in manifests.container(objects)["args"]:
                flag = re.fullmatch(r"--(\w+)=(\S+)", argument)
                self.assertTrue(flag and flag.group(1) in self.flags, argument)

    def test_the_ports_are_the_defaults_of_the_flags(self):
        self.assertEqual(self.ports, {"health": int(self.flags["health_port"]),
                                      "barrier": int(self.flags["barrier_port"])})

    def test_the_service_is_where_drain_wait_looks_for_it(self):
        service = self.base["Service", "oci-drain-barrier"]
        (port,) = service["spec"]["ports"]
        self.assertEqual(self.ports[port["targetPort"]], port["port"])
        with open("cmd/drain_wait_main.cc", encoding="utf-8") as file:
            address = re.search(r'kDefaultAddress\[\] = "(.*)"', file.read()).group(1)
        self.assertEqual(address, f"oci-drain-barrier.{NAME}.svc:{port['port']}")

    def test_the_probes_ask_the_health_port(self):
        for probe, path in (("livenessProbe", "/livez"), ("readinessProbe", "/readyz")):
            self.assertEqual(self.container[probe]["httpGet"], {"path": path, "port": "health"})
        # A process that is stuck ends itself after --wedge_after and 30 s more.
        probe = self.container["livenessProbe"]
        self.assertGreater(probe["periodSeconds"] * probe["failureThreshold"], 30 + 10)

    def test_the_network_policy_lets_in_to_both_ports_and_no_other(self):
        policy = self.base["NetworkPolicy", NAME]["spec"]
        self.assertEqual(policy["policyTypes"], ["Ingress", "Egress"])
        allowed = [port["port"] for rule in policy["ingress"] for port in rule["ports"]]
        self.assertEqual(sorted(allowed), sorted(self.ports.values()))
        self.assertTrue(all(rule["from"] for rule in policy["ingress"]))
        out = {port["port"] for rule in policy["egress"] for port in rule["ports"]}
        self.assertEqual(out, {53, 80, 443, 6443, self.ports["barrier"]})

    def test_every_selector_selects_the_pods(self):
        labels = self.base["Deployment", NAME]["spec"]["template"]["metadata"]["labels"]
        selectors = [
            self.base["Deployment", NAME]["spec"]["selector"]["matchLabels"],
            self.base["PodDisruptionBudget", NAME]["spec"]["selector"]["matchLabels"],
            self.base["NetworkPolicy", NAME]["spec"]["podSelector"]["matchLabels"],
            self.base["Service", "oci-drain-barrier"]["spec"]["selector"],
        ] + [spread["labelSelector"]["matchLabels"]
             for spread in self.pod["topologySpreadConstraints"]]
        self.assertEqual(len(selectors), 6)
        for selector in selectors:
            self.assertTrue(selector.items() <= labels.items(), selector)

    def test_two_replicas_of_which_one_may_go(self):
        self.assertEqual(self.base["Deployment", NAME]["spec"]["replicas"], 2)
        self.assertEqual(self.base["PodDisruptionBudget", NAME]["spec"]["maxUnavailable"], 1)

    def test_the_pod_is_restricted(self):
        for objects in [self.base, *self.overlays.values()]:
            pod, container = manifests.pod(objects), manifests.container(objects)
            self.assertTrue(pod["securityContext"]["runAsNonRoot"])
            self.assertGreater(pod["securityContext"]["runAsUser"], 0)
            self.assertEqual(pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
            self.assertEqual(container["securityContext"], {
                "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]}})
            for key in ("hostNetwork", "hostPID", "hostIPC", "initContainers"):
                self.assertNotIn(key, pod)
            self.assertTrue(all(set(volume) == {"name", "secret"}
                                for volume in pod.get("volumes", [])))
        labels = self.base["Namespace", NAME]["metadata"]["labels"]
        self.assertEqual(labels["pod-security.kubernetes.io/enforce"], "restricted")

    def test_memory_is_bounded(self):
        resources = self.container["resources"]
        self.assertEqual(set(resources["requests"]), {"cpu", "memory"})
        self.assertIn("memory", resources["limits"])

    def test_the_pod_is_told_who_it_is(self):
        told = {each["name"]: each["valueFrom"]["fieldRef"]["fieldPath"]
                for each in self.container["env"]}
        self.assertEqual(told, {"POD_NAMESPACE": "metadata.namespace",
                                "POD_NAME": "metadata.name", "POD_IP": "status.podIP"})

    def test_rights_are_bound_to_the_service_account_and_name_what_they_grant(self):
        self.assertEqual(self.pod["serviceAccountName"], NAME)
        self.assertTrue(self.pod["automountServiceAccountToken"])
        for objects in [self.base, *self.overlays.values()]:
            roles = {key for key in objects if key[0] in ("Role", "ClusterRole")}
            bound = set()
            for (kind, _), value in objects.items():
                if kind not in ("RoleBinding", "ClusterRoleBinding"):
                    continue
                self.assertEqual(value["subjects"], [
                    {"kind": "ServiceAccount", "name": NAME, "namespace": NAME}])
                bound.add((value["roleRef"]["kind"], value["roleRef"]["name"]))
            self.assertEqual(roles, bound)
            for role in roles:
                for rule in objects[role]["rules"]:
                    words = rule["apiGroups"] + rule["resources"] + rule["verbs"]
                    self.assertFalse({"*", "secrets"} & set(words), role)
                    self.assertNotIn("nonResourceURLs", rule)

    def test_the_lease_is_the_one_that_the_flags_name(self):
        names = {name for rule in self.base["Role", NAME]["rules"]
                 for name in rule.get("resourceNames", [])}
        self.assertEqual(names, {self.flags["lease_name"]})
        self.assertEqual(self.flags["lease_namespace"], "")

    def test_the_image_is_of_this_version(self):
        with open("cmd/version.bzl", encoding="utf-8") as file:
            version = re.search(r'^VERSION = "(.*)"', file.read(), re.MULTILINE).group(1)
        self.assertEqual(self.container["image"], f"example.com/oci-backend-drain:{version}")


if __name__ == "__main__":
    FOLDER, HELP = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])

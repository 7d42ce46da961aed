#!/usr/bin/env python3
"""Checks the chart in deploy/helm/ against its schema and against deploy/kustomize/.

usage: helm_test.py HELP CASES
  HELP   what oci-drain-controller --help printed
  CASES  Chart: what needs no helm; Rendered: what does
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

import kustomize_test
import manifests
from manifests import NAME

CHART = "deploy/helm/oci-backend-drain"
KUSTOMIZE = "deploy/kustomize"
HELP = ""
TYPES = {"string": str, "integer": int, "boolean": bool, "object": dict, "array": list}
# How to ask the chart for what an overlay does.
OVERLAYS = {
    "workload-identity": ["auth.method=workload", "auth.region=us-ashburn-1"],
    "secret": ["auth.method=secret"],
    "pod-conditions": ["podConditions=both"],
    "withdrawal": ["capacityAction=withdraw"],
    "everything": ["auth.method=workload", "auth.region=us-ashburn-1", "podConditions=both",
                   "capacityAction=withdraw"],
}
# A chart leaves its namespace to helm, and says when an image is fetched.
PULL = f'Deployment {NAME}.spec.template.spec.containers[controller].imagePullPolicy: "IfNotPresent"'


def text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def paths(value, prefix=""):
    """The paths of a map's leaves; what may hold anything is one."""
    for key, inner in value.items():
        if isinstance(inner, dict) and inner and prefix + key != "resources":
            yield from paths(inner, f"{prefix}{key}.")
        else:
            yield prefix + key


def base_lines():
    """Of the base as kubectl renders it; its one change is the image's name."""
    listed = yaml.safe_load(text(f"{KUSTOMIZE}/base/kustomization.yaml"))
    objects = {}
    for name in listed["resources"]:
        objects |= manifests.load(f"{KUSTOMIZE}/base/{name}")
    (image,) = listed["images"]
    manifests.container(objects)["image"] = f"{image['newName']}:{image['newTag']}"
    del objects["Namespace", NAME]
    return manifests.lines(objects)


def helm(*arguments):
    return subprocess.run(["helm", "template", NAME, CHART, "--namespace", NAME, *arguments],
                          capture_output=True, text=True, check=False)


class Chart(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.values = yaml.safe_load(text(f"{CHART}/values.yaml"))
        cls.schema = json.loads(text(f"{CHART}/values.schema.json"))
        cls.templates = {os.path.basename(path): text(path)
                         for path in sorted(glob.glob(f"{CHART}/templates/*"))}

    def agree(self, value, schema, where):
        self.assertIs(type(value), TYPES[schema["type"]], where)
        if "enum" in schema:
            self.assertIn(value, schema["enum"], where)
        if "pattern" in schema:
            self.assertRegex(value, schema["pattern"], where)
        if "properties" not in schema:
            return
        self.assertIs(schema["additionalProperties"], False, where)
        self.assertEqual(set(value), set(schema["properties"]) - {"global"}, where)
        self.assertLessEqual(set(schema.get("required", [])), set(value), where)
        for key, inner in value.items():
            self.agree(inner, schema["properties"][key], f"{where}.{key}")

    def test_the_values_are_those_of_the_schema(self):
        self.agree(self.values, self.schema, "values")

    def test_every_value_is_described(self):
        # Words stand above it or above what it is a part of, or what it holds has them.
        words = text(f"{CHART}/values.yaml")
        for key in self.values:
            block = re.search(rf"(?:^#.*\n)?^{key}:.*\n(?:^  .*\n)*", words, re.MULTILINE)
            self.assertIn("#", block.group(0), key)

    def test_templates_and_values_name_each_other(self):
        used = {name for each in self.templates.values()
                for name in re.findall(r"\.Values\.([\w.]+)", each)}
        self.assertEqual(used, set(paths(self.values)))

    def test_every_block_of_a_template_ends(self):
        for name, each in self.templates.items():
            self.assertEqual(each.count("{{"), each.count("}}"), name)
            begun = len(re.findall(r"\{\{-? (?:if|with|range) ", each))
            self.assertEqual(begun, len(re.findall(r"\{\{-? end \}\}", each)), name)

    def test_the_objects_are_those_of_kustomize(self):
        wanted = []
        for path in glob.glob(f"{KUSTOMIZE}/base/*.yaml") + glob.glob(f"{KUSTOMIZE}/rights/*/*.yaml"):
            wanted += re.findall(r"^kind: (\w+)\nmetadata:\n  name: (\S+)", text(path),
                                 re.MULTILINE)
        wanted.remove(("Namespace", NAME))
        found = [each for template in self.templates.values() for each in
                 re.findall(r"^kind: (\w+)\nmetadata:\n  name: (\S+)", template, re.MULTILINE)]
        self.assertEqual(sorted(found), sorted(wanted))

    def test_the_rights_are_those_of_kustomize_word_for_word(self):
        for template, file in (("cluster_role", "base/cluster_role"), ("role", "base/role"),
                               ("pod_conditions", "rights/pod-conditions/cluster_role"),
                               ("withdrawal", "rights/withdrawal/cluster_role")):
            rules = text(f"{KUSTOMIZE}/{file}.yaml").split("\nrules:\n")[1]
            self.assertIn("\nrules:\n" + rules, self.templates[template + ".yaml"])

    def test_every_flag_exists(self):
        flags = manifests.flags(text(HELP))
        named = {name for each in self.templates.values()
                 for name in re.findall(r"^ *- --(\w+)=", each, re.MULTILINE)}
        self.assertEqual(named, {"auth", "pod_conditions", "capacity_action"})
        self.assertLessEqual(named, set(flags))
        self.assertEqual(self.values["podConditions"], flags["pod_conditions"])
        self.assertEqual(self.values["capacityAction"], flags["capacity_action"])

    def test_the_version_is_the_programs(self):
        version = re.search(r'^VERSION = "(.*)"', text("cmd/version.bzl"), re.MULTILINE).group(1)
        chart = yaml.safe_load(text(f"{CHART}/Chart.yaml"))
        self.assertEqual((chart["version"], chart["appVersion"]), (version, version))


@unittest.skipUnless(shutil.which("helm"), "helm is not there, so the chart was not rendered")
class Rendered(unittest.TestCase):
    def lines(self, *settings):
        ran = helm(*(word for setting in settings for word in ("--set", setting)))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(ran.stdout)
            file.flush()
            return manifests.lines(manifests.load(file.name))

    def test_by_default_it_is_the_base(self):
        self.maxDiff = None
        self.assertEqual(self.lines(), base_lines() | {PULL})

    def test_a_value_does_what_an_overlay_does(self):
        self.maxDiff = None
        for name, settings in OVERLAYS.items():
            taken, added = kustomize_test.DIFFERENCES[name]
            self.assertEqual(self.lines(*settings), (base_lines() | {PULL}) - taken | added, name)

    def test_every_other_value_shows(self):
        lines = self.lines("networkPolicy.enabled=false", "extraArgs={--log_format=json}",
                           "replicas=3", "image.tag=x", "nodeSelector.a=b", "podAnnotations.c=d",
                           "priorityClassName=high", "imagePullSecrets[0].name=registry",
                           "tolerations[0].operator=Exists", "resources.requests.cpu=1")
        said = "\n".join(lines)
        self.assertNotIn("NetworkPolicy", said)
        for words in ('.args: "--log_format=json"', ".replicas: 3", ':x"', '.nodeSelector.a: "b"',
                      '.annotations.c: "d"', '.priorityClassName: "high"',
                      ".imagePullSecrets[registry]", '.tolerations: {"operator": "Exists"}',
                      ".requests.cpu: 1"):
            self.assertIn(words, said)

    def test_what_the_schema_forbids_is_refused(self):
        for setting in ("auth.method=workload", "auth.method=config", "podConditions=all",
                        "replicas=0", "replica=2", "extraArgs={dry_run}"):
            self.assertNotEqual(helm("--set", setting).returncode, 0, setting)


if __name__ == "__main__":
    HELP, cases = sys.argv[1:]
    ran_all = unittest.main(argv=[sys.argv[0], cases], exit=False).result
    for reason in sorted({why for _, why in ran_all.skipped}):
        print(f"SKIP: {reason}")
    sys.exit(not ran_all.wasSuccessful())

#!/usr/bin/env python3
"""Checks the image that build_image.py makes of programs.

usage: image_test.py [--limit_mb=N] PROGRAM...   (by their paths)
"""

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

TOOL = "deploy/image/build_image.py"
DOCKERFILE = "deploy/image/Dockerfile"
VERSION = "1.2.3"
PROGRAMS = []
LIMIT = []


def build(*options, environment=None, programs=None):
    return subprocess.run([sys.executable, TOOL, *options, *(programs or PROGRAMS)],
                          capture_output=True, text=True, check=False,
                          env=os.environ | (environment or {}))


def content(path):
    with open(path, "rb") as file:
        return file.read()


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        cls.layout = f"{cls.folder}/layout"
        cls.built = build(f"--oci={cls.layout}", f"--version={VERSION}",
                          f"--sbom={cls.folder}/sbom.json", *LIMIT)
        assert cls.built.returncode == 0, cls.built.stderr
        print(cls.built.stdout)
        cls.index = cls.json("index.json")
        (entry,) = cls.index["manifests"]
        cls.digest = entry["digest"]
        cls.manifest = json.loads(cls.blob(cls.digest))
        cls.config = json.loads(cls.blob(cls.manifest["config"]["digest"]))
        cls.layers = [gzip.decompress(cls.blob(layer["digest"]))
                      for layer in cls.manifest["layers"]]
        cls.files = {}
        for layer in cls.layers:
            with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
                for member in archive:
                    held = archive.extractfile(member).read() if member.isreg() else None
                    cls.files["/" + member.name] = (member, held)

    @classmethod
    def json(cls, name):
        return json.loads(content(f"{cls.layout}/{name}"))

    @classmethod
    def blob(cls, digest):
        data = content(f"{cls.layout}/blobs/{digest.replace(':', '/')}")
        assert "sha256:" + hashlib.sha256(data).hexdigest() == digest
        return data

    def test_the_same_programs_give_the_same_digest(self):
        # Elsewhere, with other times and rights.
        copies = [shutil.copy(program, f"{self.folder}/{os.path.basename(program)}")
                  for program in PROGRAMS]
        for copy in copies:
            os.chmod(copy, 0o700)
            os.utime(copy, (1, 1))
        again = build(f"--oci={self.folder}/again", f"--version={VERSION}",
                      programs=list(reversed(copies)), environment={"TZ": "Asia/Tokyo"})
        self.assertEqual(again.stdout.split("digest ")[1], self.built.stdout.split("digest ")[1])

    def test_members_are_sorted_and_say_nothing_of_this_machine(self):
        for layer in self.layers:
            with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
                names = archive.getnames()
                self.assertEqual(names, sorted(names))
                for member in archive:
                    self.assertEqual((member.mtime, member.uid, member.gid, member.uname),
                                     (0, 0, 0, ""), member.name)
                    self.assertFalse(member.mode & 0o022 and not member.issym(), member.name)
                    self.assertFalse(member.mode & 0o7000, member.name)

    def test_the_date_is_the_source_s_where_it_is_told(self):
        dated = build(f"--oci={self.folder}/dated", environment={"SOURCE_DATE_EPOCH": "86400"})
        self.assertNotIn(self.digest, dated.stdout)
        with open(f"{self.folder}/dated/index.json", encoding="utf-8") as file:
            (entry,) = json.load(file)["manifests"]
        path = f"{self.folder}/dated/blobs/{entry['digest'].replace(':', '/')}"
        config = json.loads(content(path))["config"]["digest"].replace(":", "/")
        config = json.loads(content(f"{self.folder}/dated/blobs/{config}"))
        self.assertEqual(config["created"], "1970-01-02T00:00:00Z")

    def test_every_blob_is_named_and_measured_rightly(self):
        self.assertEqual(self.json("oci-layout"), {"imageLayoutVersion": "1.0.0"})
        for entry in [*self.index["manifests"], self.manifest["config"], *self.manifest["layers"]]:
            self.assertEqual(len(self.blob(entry["digest"])), entry["size"])
        self.assertEqual(self.config["rootfs"]["diff_ids"],
                         ["sha256:" + hashlib.sha256(layer).hexdigest() for layer in self.layers])

    def test_it_holds_the_programs_and_runs_as_nobody(self):
        for program in PROGRAMS:
            member, held = self.files["/" + os.path.basename(program)]
            self.assertEqual(member.mode, 0o755)
            self.assertEqual(held, content(program))
        config = self.config["config"]
        self.assertEqual(config["User"], "65532:65532")
        self.assertIn(b"nonroot:x:65532:65532:", self.files["/etc/passwd"][1])
        self.assertEqual(config["Entrypoint"], ["/oci-drain-controller"])
        self.assertIn(b"BEGIN CERTIFICATE", self.files["/etc/ssl/certs/ca-certificates.crt"][1])
        self.assertEqual(self.files["/usr/lib/ssl/cert.pem"][0].linkname,
                         "/etc/ssl/certs/ca-certificates.crt")

    def test_nothing_else_can_be_run(self):
        able = {path for path, (member, _) in self.files.items()
                if member.isreg() and member.mode & 0o111 and ".so" not in path}
        self.assertEqual(able, {"/" + os.path.basename(program) for program in PROGRAMS})

    def test_the_programs_start_in_it(self):
        root = f"{self.folder}/root"
        made = build(f"--root={root}", f"--version={VERSION}")
        self.assertEqual(made.returncode, 0, made.stderr)
        enter = ["chroot", root]
        if os.getuid() != 0:
            as_root = ["unshare", "--user", "--map-root-user"]
            if subprocess.run([*as_root, "true"], capture_output=True, check=False).returncode:
                self.skipTest("this is neither root, nor may it make a user namespace")
            enter = as_root + enter
        for program in PROGRAMS:
            ran = subprocess.run([*enter, "/" + os.path.basename(program), "--version"],
                                 capture_output=True, text=True, check=False)
            self.assertEqual(ran.returncode, 0, ran.stderr)
        # It reads itself by /proc, which a container has.
        installed = subprocess.run([f"{root}/drain-wait", "install", f"{root}/etc"],
                                   capture_output=True, text=True, check=False)
        self.assertEqual(installed.returncode, 0, installed.stderr)
        self.assertEqual(content(f"{root}/etc/drain-wait"), content(f"{root}/drain-wait"))

    def test_the_bill_of_materials_names_every_file_of_a_package(self):
        document = json.loads(content(f"{self.folder}/sbom.json"))
        inside = self.files["/usr/share/doc/oci-backend-drain/sbom.spdx.json"][1]
        self.assertEqual(json.loads(inside), document)
        self.assertEqual(document["spdxVersion"], "SPDX-2.3")
        named = {each["name"]: each for each in document["packages"]}
        self.assertEqual(len(named), len(document["packages"]))
        known = {reference["licenseId"] for reference in document["hasExtractedLicensingInfos"]}
        for each in document["packages"]:
            self.assertTrue(each["versionInfo"], each["name"])
            used = set(re.findall(r"LicenseRef-[\w.-]+", each["licenseDeclared"]))
            self.assertLessEqual(used, known, each["name"])
        for package in ("libc6", "ca-certificates", "libabsl-dev"):
            self.assertIn(package, named)
            self.assertIn(f"/usr/share/doc/{package}/copyright", self.files)
        ids = {each["SPDXID"] for each in document["packages"]} | {"SPDXRef-DOCUMENT"}
        for relation in document["relationships"]:
            self.assertLessEqual({relation["spdxElementId"], relation["relatedSpdxElement"]}, ids)
        for path in self.files:
            if path.startswith("/var/lib/dpkg/status.d/"):
                self.assertIn(os.path.basename(path), named)
        hashes = {check["checksumValue"] for each in document["packages"]
                  for check in each.get("checksums", [])}
        for program in PROGRAMS:
            self.assertIn(hashlib.sha256(content(program)).hexdigest(), hashes)

    def test_what_cannot_be_packed_is_refused_in_words(self):
        script = f"{self.folder}/oci-drain-script"
        with open(script, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n")
        cases = {
            "no program for one of": build(f"--oci={self.folder}/a", programs=[script]),
            "there is no oci-drain-controller": build(f"--oci={self.folder}/b",
                                                      programs=PROGRAMS[1:]),
            "No such file": build(f"--oci={self.folder}/c", programs=["nowhere"]),
            "is not empty": build(f"--oci={self.layout}"),
            "are more than 1 MB": build(f"--oci={self.folder}/d", "--limit_mb=1"),
        }
        for words, ran in cases.items():
            self.assertEqual(ran.returncode, 1, words)
            self.assertIn(words, ran.stderr)

    def test_skopeo_takes_it(self):
        if not shutil.which("skopeo"):
            self.skipTest("skopeo is not there (Debian package skopeo)")
        told = subprocess.run(["skopeo", "inspect", f"oci:{self.layout}:{VERSION}"],
                              capture_output=True, text=True, check=True)
        self.assertEqual(json.loads(told.stdout)["Digest"], self.digest)
        # It looks at every digest on the way.
        subprocess.run(["skopeo", "--insecure-policy", "copy", f"oci:{self.layout}:{VERSION}",
                        f"dir:{self.folder}/copied"], capture_output=True, check=True)

    def test_the_dockerfile_makes_the_same(self):
        with open(DOCKERFILE, encoding="utf-8") as file:
            text = file.read()
        config = self.config["config"]
        self.assertIn(f"\nUSER {config['User']}\n", text)
        self.assertIn(f"\nWORKDIR {config['WorkingDir']}\n", text)
        self.assertIn(f"\nENTRYPOINT {json.dumps(config['Entrypoint'])}\n", text)
        labels = dict(re.findall(r"^LABEL (\S+)=(\S+)$", text, re.MULTILINE))
        self.assertEqual(set(labels), set(config["Labels"]))
        with open("cmd/version.bzl", encoding="utf-8") as file:
            version = re.search(r'^VERSION = "(.*)"', file.read(), re.MULTILINE).group(1)
        self.assertEqual(labels["org.opencontainers.image.version"], version)
        self.assertEqual(re.findall(r"--version=(\S+)", text), [version])
        built = re.findall(r"//cmd:([\w-]+)", text)
        self.assertEqual(built, ["oci-drain-controller", "oci-drain", "drain-wait"])
        self.assertEqual(re.findall(r"bazel-bin/cmd/([\w-]+)", text), built)
        self.assertIn(TOOL, text)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    LIMIT = [each for each in arguments if each.startswith("--limit_mb")]
    PROGRAMS = [each for each in arguments if not each.startswith("--")]
    ran = unittest.main(argv=sys.argv[:1], exit=False).result
    for _, why in ran.skipped:
        print(f"SKIP: {why}")
    sys.exit(not ran.wasSuccessful())

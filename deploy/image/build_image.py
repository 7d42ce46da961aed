#!/usr/bin/env python3
"""Makes the container image from programs that are built, without a container engine.

usage: build_image.py (--oci=FOLDER | --root=FOLDER) [--version=VERSION] [--sbom=FILE]
                      [--limit_mb=N] PROGRAM...

  --oci      writes an OCI image layout there, with one image, tagged VERSION
  --root     writes the image's files there: what the Dockerfile copies
  --version  of the programs; the tag
  --sbom     also writes the list of what is in the image (SPDX 2.3, JSON) there
  --limit_mb fails if the files are larger than so many megabytes (10^6 bytes)

In the image are each PROGRAM as /NAME, the shared libraries that it needs, the
certificates of public authorities, two users, and for each Debian package that is in it
the licence and what a scanner looks for. The same programs on a machine with the same
packages give the same bytes: names are sorted, times are SOURCE_DATE_EPOCH or 0, and
owners are root.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import time

import packages

USER = 65532
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
ENTRY = "/oci-drain-controller"
SBOM = "/usr/share/doc/oci-backend-drain/sbom.spdx.json"
PASSWD = f"root:x:0:0:root:/:/sbin/nologin\nnonroot:x:{USER}:{USER}:nonroot:/:/sbin/nologin\n"
GROUP = f"root:x:0:\nnonroot:x:{USER}:\n"
NSSWITCH = "passwd: files\ngroup: files\nhosts: files dns\n"
# e_machine of ELF, and what OCI images call it.
MACHINES = {62: "amd64", 183: "arm64"}


class Failed(Exception):
    """What is wrong, and the cure."""


def read(path):
    with open(path, "rb") as file:
        return file.read()


def epoch():
    return int(os.environ.get("SOURCE_DATE_EPOCH", "0"))


def machine(path):
    """The architecture of a program."""
    head = read(path)[:20]
    if head[:4] != b"\x7fELF" or int.from_bytes(head[18:20], "little") not in MACHINES:
        raise Failed(f"{path}: no program for one of {', '.join(MACHINES.values())}")
    return MACHINES[int.from_bytes(head[18:20], "little")]


def libraries(program):
    """The shared libraries that a program needs: where it looks for each."""
    told = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    if "not a dynamic executable" in told.stderr + told.stdout:
        return set()
    if "statically linked" in told.stdout:
        return set()
    if told.returncode != 0:
        raise Failed(f"ldd {program}: {told.stderr.strip()}; it answers for programs of this "
                     "machine's architecture only")
    lacking = re.findall(r"^\s*(\S+) => not found", told.stdout, re.MULTILINE)
    if lacking:
        raise Failed(f"{program} needs {', '.join(lacking)}; install what has it")
    return set(re.findall(r"(/\S+) \(0x", told.stdout))


class Image:
    """Files by their path; a value is their bytes, or a str: the link's target."""

    def __init__(self, programs, version):
        self.version = version
        architectures = {machine(program) for program in programs}
        if len(architectures) != 1:
            raise Failed(f"programs for {' and '.join(sorted(architectures))} in one image")
        (self.architecture,) = architectures
        self.programs = {"/" + os.path.basename(program): read(program) for program in programs}
        if ENTRY not in self.programs:
            raise Failed(f"there is no {ENTRY[1:]} among the programs")
        self.system = {}
        needed = set().union(*map(libraries, programs))
        # By the name that the loader looks for; a package has the file behind it.
        self.system.update({path: read(path) for path in needed})
        owners = packages.owners({os.path.realpath(path) for path in needed})
        found = packages.installed(owners | {"ca-certificates"})
        self.system[CERTIFICATES] = read(CERTIFICATES)
        # Where OpenSSL looks.
        self.system["/usr/lib/ssl/cert.pem"] = CERTIFICATES
        self.system["/usr/lib/ssl/certs"] = os.path.dirname(CERTIFICATES)
        self.system["/etc/passwd"] = PASSWD.encode()
        self.system["/etc/group"] = GROUP.encode()
        self.system["/etc/nsswitch.conf"] = NSSWITCH.encode()
        for package in found:
            self.system[f"/usr/share/doc/{package.name}/copyright"] = package.copyright_text
            self.system[f"/var/lib/dpkg/status.d/{package.name}"] = package.status
        within = packages.installed(packages.built_with())
        for package in within:
            self.system[f"/usr/share/doc/{package.name}/copyright"] = package.copyright_text
        self.sbom = packages.sbom(version, epoch(), self.programs, found, within)
        self.programs[SBOM] = self.sbom

    def layers(self):
        """The system's files change seldom; ours with each version."""
        return [tar(self.system), tar(self.programs)]

    def size(self):
        """In the file system, in bytes."""
        return sum(len(content) for files in (self.system, self.programs)
                   for content in files.values() if isinstance(content, bytes))


def folders(files):
    """Every folder above the files."""
    above = set()
    for path in files:
        while path.rpartition("/")[0]:
            path = path.rpartition("/")[0]
            above.add(path)
    return above


def tar(files):
    """The bytes of an archive, always the same."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(folders(files) | set(files)):
            member = tarfile.TarInfo(path.lstrip("/"))
            member.mtime = epoch()
            content = files.get(path)
            if content is None:
                member.type, member.mode = tarfile.DIRTYPE, 0o755
            elif isinstance(content, str):
                member.type, member.mode, member.linkname = tarfile.SYMTYPE, 0o777, content
            else:
                member.size = len(content)
                member.mode = 0o755 if content[:4] == b"\x7fELF" else 0o644
            archive.addfile(member, io.BytesIO(content) if member.isreg() else None)
    return buffer.getvalue()


def compress(data):
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, compresslevel=6, mtime=0) as file:
        file.write(data)
    return buffer.getvalue()


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def write(path, data):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def canonical(value):
    return (json.dumps(value, indent=1, sort_keys=True) + "\n").encode()


class Layout:
    """An OCI image layout, with one image."""

    def __init__(self, folder):
        self.folder = folder

    def put(self, data, media_type):
        name = digest(data)
        write(f"{self.folder}/blobs/{name.replace(':', '/')}", data)
        return {"mediaType": f"application/vnd.oci.image.{media_type}", "digest": name,
                "size": len(data)}

    def write(self, image):
        created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch()))
        layers = image.layers()
        config = {
            "created": created,
            "architecture": image.architecture,
            "os": "linux",
            "config": {
                "User": f"{USER}:{USER}",
                "Entrypoint": [ENTRY],
                "WorkingDir": "/",
                "Labels": {
                    "org.opencontainers.image.title": "oci-backend-drain",
                    "org.opencontainers.image.version": image.version,
                    "org.opencontainers.image.licenses": "Apache-2.0",
                },
            },
            "rootfs": {"type": "layers", "diff_ids": [digest(layer) for layer in layers]},
            "history": [{"created": created, "created_by": "build_image.py", "comment": what}
                        for what in ("libraries and certificates", "programs")],
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": self.put(canonical(config), "config.v1+json"),
            "layers": [self.put(compress(layer), "layer.v1.tar+gzip") for layer in layers],
        }
        entry = self.put(canonical(manifest), "manifest.v1+json")
        entry["platform"] = {"architecture": image.architecture, "os": "linux"}
        entry["annotations"] = {"org.opencontainers.image.ref.name": image.version}
        write(f"{self.folder}/index.json", canonical({
            "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
            "manifests": [entry]}))
        write(f"{self.folder}/oci-layout", canonical({"imageLayoutVersion": "1.0.0"}))
        compressed = sum(layer["size"] for layer in manifest["layers"])
        return entry["digest"], compressed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--oci")
    where.add_argument("--root")
    parser.add_argument("--version", default="0.0.0")
    parser.add_argument("--sbom")
    parser.add_argument("--limit_mb", type=int)
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    target = options.oci or options.root
    if os.path.exists(target) and os.listdir(target):
        raise Failed(f"{target} is not empty; what was there would become part of the image")
    image = Image(options.programs, options.version)
    if options.limit_mb and image.size() > options.limit_mb * 10**6:
        raise Failed(f"{image.size() / 1e6:.1f} MB are more than {options.limit_mb} MB")
    if options.sbom:
        write(options.sbom, image.sbom)
    print(f"architecture {image.architecture}")
    print(f"uncompressed {image.size()} bytes")
    if options.root:
        for layer in image.layers():
            with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
                archive.extractall(options.root)
        return
    name, compressed = Layout(options.oci).write(image)
    print(f"compressed {compressed} bytes")
    print(f"digest {name}")


if __name__ == "__main__":
    try:
        main()
    except (Failed, LookupError, OSError) as failed:
        print(f"build_image.py: {failed}", file=sys.stderr)
        sys.exit(1)

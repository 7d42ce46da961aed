"""The Debian packages that are in the image: what they are, under which licences, and the
list of them as SPDX 2.3."""

import hashlib
import json
import os
import re
import subprocess
import time

LIST = os.path.join(os.path.dirname(__file__), "../../tools/packages.txt")
FIELDS = ("Package", "Version", "Architecture", "source:Package", "source:Version", "Maintainer")
# Debian's short names of licences, where SPDX has another.
SPDX_NAMES = {
    "Apache-2": "Apache-2.0", "Apache-2.0": "Apache-2.0", "Artistic": "Artistic-1.0-Perl",
    "BSD-2-clause": "BSD-2-Clause", "BSD-2-Clause": "BSD-2-Clause",
    "BSD-3-clause": "BSD-3-Clause", "BSD-3-Clause": "BSD-3-Clause", "BSL-1.0": "BSL-1.0",
    "Boost": "BSL-1.0", "CC0-1.0": "CC0-1.0", "Expat": "MIT", "GPL-1+": "GPL-1.0-or-later",
    "GPL-2": "GPL-2.0-only", "GPL-2+": "GPL-2.0-or-later", "GPL-2.0+": "GPL-2.0-or-later",
    "GPL-3": "GPL-3.0-only", "GPL-3+": "GPL-3.0-or-later", "GPL-3.0+": "GPL-3.0-or-later",
    "ISC": "ISC", "LGPL-2": "LGPL-2.0-only", "LGPL-2+": "LGPL-2.0-or-later",
    "LGPL-2.1": "LGPL-2.1-only", "LGPL-2.1+": "LGPL-2.1-or-later", "LGPL-3": "LGPL-3.0-only",
    "LGPL-3+": "LGPL-3.0-or-later", "MIT": "MIT", "MPL-2.0": "MPL-2.0", "Zlib": "Zlib",
    "zlib": "Zlib",
}


def ask(*command):
    """What a command of dpkg says of that which it knows."""
    return subprocess.run(command, capture_output=True, text=True, check=False,
                          env=os.environ | {"LC_ALL": "C"}).stdout


class Package:
    """One that is installed: the values of FIELDS."""

    def __init__(self, name, version, architecture, source, source_version, maintainer):
        self.name, self.version, self.architecture = name, version, architecture
        self.source, self.source_version = source, source_version
        self.maintainer = maintainer
        with open(f"/usr/share/doc/{name}/copyright", "rb") as file:
            self.copyright_text = file.read()

    @property
    def status(self):
        return (f"Package: {self.name}\nStatus: install ok installed\n"
                f"Maintainer: {self.maintainer}\nArchitecture: {self.architecture}\n"
                f"Source: {self.source} ({self.source_version})\nVersion: {self.version}\n").encode()

    def licences(self):
        """The names in a copyright file that a program can read; else none."""
        text = self.copyright_text.decode(errors="replace")
        if not text.startswith("Format:"):
            return []
        names = set()
        for line in re.findall(r"^License:[ \t]*(.+)$", text, re.MULTILINE):
            names.update(re.split(r",?\s+(?:and|or|and/or)\s+|\s+with\s.*$", line.strip()))
        return sorted(name for name in names if name)


def installed(names):
    """These packages, by name."""
    form = "\t".join(f"${{{field}}}" for field in FIELDS)
    rows = [row.split("\t") for row in
            ask("dpkg-query", "-W", f"-f={form}\n", *sorted(names)).splitlines()]
    known = {row[0]: Package(*row) for row in rows if row[1]}
    lacking = set(names) - set(known)
    if lacking:
        raise LookupError(f"{', '.join(sorted(lacking))}: not installed; "
                          "tools/install_packages.sh build")
    return [known[name] for name in sorted(known)]


def owners(paths):
    """The names of the packages that have these files."""
    # A package may know a file under either of the names of /usr/lib.
    either = {path: {path, path.removeprefix("/usr")} for path in paths}
    told = ask("dpkg-query", "-S", *sorted(set().union(*either.values())))
    owner = {}
    for line in told.splitlines():
        names, _, path = line.partition(": ")
        owner[path] = names.split(":")[0]
    for path, candidates in either.items():
        if not candidates & set(owner):
            raise LookupError(f"{path} is of no Debian package; nothing can say what it is")
    return set(owner.values())


def built_with():
    """What tools/packages.txt names as libraries of the programs: their headers, or all of
    them, are inside."""
    with open(LIST, encoding="utf-8") as file:
        rows = [[column.strip() for column in line.split("|")] for line in file if "|" in line
                and not line.startswith("#")]
    return {row[0] for row in rows if row[2] == "build" and "(third_party/" in row[3]
            and "third_party/googletest" not in row[3]}


class Licences:
    """Collects the licences that SPDX has no name for."""

    def __init__(self):
        self.others = {}

    def expression(self, package):
        names = package.licences()
        if not names:
            return self.refer(f"Debian-copyright-{package.name}", package)
        return " AND ".join(sorted({SPDX_NAMES.get(name) or self.refer(f"Debian-{name}", package)
                                    for name in names}))

    def refer(self, name, package):
        reference = "LicenseRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", name).strip("-")
        self.others.setdefault(reference, f"/usr/share/doc/{package.name}/copyright")
        return reference


def describe(package, licences):
    return {
        "SPDXID": f"SPDXRef-Package-{package.name.replace('+', '-plus')}",
        "name": package.name,
        "versionInfo": package.version,
        "supplier": f"Organization: Debian ({package.maintainer})",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "sourceInfo": f"built from {package.source} {package.source_version}",
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": licences.expression(package),
        "copyrightText": "NOASSERTION",
        "externalRefs": [{
            "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
            "referenceLocator": f"pkg:deb/debian/{package.name.replace('+', '%2B')}"
                                f"@{package.version.replace('+', '%2B').replace(':', '%3A')}"
                                f"?arch={package.architecture}&distro=debian-12"}],
    }


def describe_program(path, content, version):
    return {
        "SPDXID": "SPDXRef-Program" + path.replace("/", "-"),
        "name": path[1:],
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "checksums": [{"algorithm": "SHA256",
                       "checksumValue": hashlib.sha256(content).hexdigest()}],
        "licenseConcluded": "Apache-2.0",
        "licenseDeclared": "Apache-2.0",
        "copyrightText": "NOASSERTION",
    }


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def sbom(version, epoch, programs, found, within):
    """The list as text: programs, the packages whose files are in the image, and those
    that are within the programs."""
    licences = Licences()
    ours = [describe_program(path, content, version) for path, content in sorted(programs.items())]
    theirs = [describe(package, licences) for package in found]
    inside = [describe(package, licences) for package in within]
    image = {
        "SPDXID": "SPDXRef-Image", "name": "oci-backend-drain", "versionInfo": version,
        "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION", "primaryPackagePurpose": "CONTAINER",
    }
    relations = [relation("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Image")]
    relations += [relation("SPDXRef-Image", "CONTAINS", each["SPDXID"]) for each in ours + theirs]
    relations += [relation(each["SPDXID"], "BUILD_DEPENDENCY_OF", "SPDXRef-Image")
                  for each in inside]
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"oci-backend-drain-{version}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)),
            "creators": ["Tool: oci-backend-drain-build_image.py"]},
        "packages": [image] + ours + theirs + inside,
        "relationships": relations,
        "hasExtractedLicensingInfos": [
            {"licenseId": reference, "extractedText": f"See {path} in the image."}
            for reference, path in sorted(licences.others.items())],
    }
    held = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    document["documentNamespace"] = f"urn:oci-backend-drain:sbom:{held}"
    return (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()

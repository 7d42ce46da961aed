#!/usr/bin/env python3
"""Checks who includes whom: arrows of #include point down only.

The table below says in one place what docs/ARCHITECTURE.md draws. Bazel's
visibility says the same per target; this also covers the headers of system
libraries, which Bazel does not know.

usage: tools/check_includes.py [ROOT]
"""

import os
import re
import sys

import repo_files

# What each folder may include besides itself. A name ending in ".h" is one file.
FOLDERS = {
    "base": [],
    "http": ["base"],
    "oci": ["base", "http"],
    "kube": ["base", "http"],
    "annotations": ["base", "kube/types.h"],
    "drain": ["base", "annotations", "oci/types.h", "kube/types.h"],
    "capacity": ["base", "annotations", "oci/types.h", "kube/types.h"],
    "controller": ["base", "http", "oci", "kube", "annotations", "drain", "capacity"],
    "sim": ["base", "http", "oci", "kube", "annotations", "drain", "capacity", "controller"],
    "bench": ["base", "http", "oci", "kube", "annotations", "drain", "capacity", "controller",
              "sim"],
    "cmd": ["base", "http", "oci", "kube", "annotations", "drain", "capacity", "controller"],
}

# Folders whose tests may use the simulated world.
TESTS_WITH_SIM = ("http", "kube", "oci", "controller", "cmd")

# These hold plain values, whatever the rest of their folder may include.
PLAIN_VALUES = re.compile(r"(oci|kube)/types\.(h|cc)")

# The pure core has no clock, no thread, no log and no input or output.
PURE = ("annotations", "drain", "capacity")
IMPURE = re.compile(
    r"(chrono|thread|mutex|shared_mutex|future|condition_variable|atomic|semaphore|stop_token"
    r"|iostream|fstream|cstdio|stdio\.h|filesystem|print|random|ctime|time\.h|unistd\.h|csignal"
    r"|sys/.*|absl/time/clock\.h|absl/synchronization/.*|absl/random/.*|base/clock\.h|glog/.*)")

MAIN = re.compile(r"^int main\(", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


class File:
    def __init__(self, path, text):
        self.path = path
        self.folder = path.split("/")[0]
        self.test = repo_files.is_test(path)
        self.main = bool(MAIN.search(text))


def matches(pattern):
    return lambda file: bool(re.fullmatch(pattern, file.path))


TRANSPORT = matches(r"http/cpprest_transport\.cc")
TLS = matches(r"http/(cpprest_transport|tls)\.cc")
SIGNER = matches(r"oci/\w*(sign|key|credential)\w*\.(h|cc)")
HASHES = matches(r"oci/backend_set_name\.cc")
JSON = matches(r"base/json\w*\.(h|cc)|(oci|kube)/\w*(codec|decod|encod|metadata_page)\w*\.(h|cc)"
               r"|controller/\w*snapshot\w*\.(h|cc)")


# Library, its headers, who may include them, and that in words.
LIBRARIES = [
    ("cpprestsdk", r"(cpprest|pplx)/.*", TRANSPORT, "http/cpprest_transport.cc"),
    ("OpenSSL", r"openssl/.*",
     lambda f: SIGNER(f) or HASHES(f) or TLS(f) or f.folder == "sim" or f.test,
     "the signer and the set names of oci/, the TLS files of http/, sim/ and tests"),
    ("RapidJSON", r"rapidjson/.*", lambda f: JSON(f) or f.folder == "sim" or f.test,
     "base/json, the codecs and decoders of oci/ and kube/, the snapshot codec of controller/, "
     "sim/ and tests"),
    ("gflags", r"gflags/.*", lambda f: f.folder == "cmd" or f.main,
     "cmd/ and files that define main()"),
    ("glog", r"glog/.*", lambda f: f.folder in ("controller", "cmd", "sim") or f.main,
     "controller/, cmd/, sim/ and files that define main()"),
    ("Boost", r"boost/.*", lambda f: TRANSPORT(f) or f.folder in ("sim", "bench") or f.test,
     "sim/, bench/, tests and http/cpprest_transport.cc"),
    ("yaml-cpp", r"yaml-cpp/.*", lambda f: f.folder in ("kube", "controller", "cmd", "sim"),
     "kube/, controller/, cmd/ and sim/"),
    ("GoogleTest", r"(gtest|gmock)/.*", lambda f: f.test or f.folder == "sim", "tests and sim/"),
    ("Google Benchmark", r"benchmark/.*", lambda f: f.folder == "bench", "bench/"),
]

# C and C++ headers have no folder, or one of these.
SYSTEM = re.compile(r"[\w.]+|(absl|sys|netinet|arpa|net)/.*")


def check_own(root, file, included):
    """A problem with an include of a file of this repository, or None."""
    if not os.path.isfile(os.path.join(root, included)):
        return "there is no such file; include by the path from the root"
    target = included.split("/")[0]
    if target == file.folder:
        return None
    if PLAIN_VALUES.fullmatch(file.path) and target != "base":
        return "plain values include base/ only"
    if target == "sim" and file.test and file.folder in TESTS_WITH_SIM:
        return None
    allowed = FOLDERS[file.folder]
    if target in allowed or included in allowed:
        return None
    return f"{file.folder}/ may include {', '.join(allowed) or 'nothing else'}"


def check_system(file, included):
    for library, headers, allowed, words in LIBRARIES:
        if re.fullmatch(headers, included):
            return None if allowed(file) else f"{library} belongs to {words}"
    return None if SYSTEM.fullmatch(included) else "an unknown library: give it a row in LIBRARIES"


def check_file(root, path, text):
    file = File(path, text)
    if file.folder not in FOLDERS:
        yield f"{path}: folder {file.folder}/ has no row in FOLDERS"
        return
    for match in INCLUDE.finditer(text):
        included = match.group(2)
        own = included.split("/")[0] in FOLDERS or (
            match.group(1) == '"' and "/" not in included)
        problem = check_own(root, file, included) if own else check_system(file, included)
        if (not problem and file.folder in PURE and not file.test and not file.main
                and IMPURE.fullmatch(included)):
            problem = "the pure core has no clock, thread, log, randomness or input and output"
        if problem:
            line = text.count("\n", 0, match.start(2)) + 1
            yield f"{path}:{line}: includes {included}: {problem}"


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    problems = []
    for path in repo_files.list_files(root):
        if path.endswith(repo_files.CXX_SUFFIXES):
            problems += check_file(root, path, repo_files.read_text(root, path) or "")
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

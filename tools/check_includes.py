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
    "drain": ["base", "annotations", "oci/types.h", "oci/work_request.h", "kube/types.h"],
    "capacity": ["base", "annotations", "oci/types.h", "kube/types.h"],
    "health": ["base"],
    "probe": ["base"],
    "controller": ["base", "http", "oci", "kube", "annotations", "drain", "capacity", "health"],
    "sim": ["base", "http", "oci", "kube", "annotations", "drain", "capacity", "health",
            "controller", "probe", "cmd/drain_wait_policy.h"],
    "bench": ["base", "http", "oci", "kube", "annotations", "drain", "capacity", "health",
              "controller", "sim"],
    "fuzz": ["base", "http", "oci", "kube", "annotations", "drain", "controller", "probe", "cmd"],
    "cmd": ["base", "http", "oci", "kube", "annotations", "drain", "capacity", "health",
            "controller", "probe"],
}

# Of single files: what they need beside that.
FURTHER = {
    # A Secret holds YAML, and there is one reader of it with bounds.
    "oci/ingress_secret.cc": ["kube/yaml_view.h"],
    "health/probe_server_test.cc": ["controller/barrier_peer_for_test.h"],
    "health/stuck_process_test.cc": ["controller/barrier_peer_for_test.h",
                                     "http/cpprest_transport.h"],
}

# Folders whose tests may use the simulated world.
TESTS_WITH_SIM = ("http", "kube", "oci", "controller", "probe", "cmd")

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


TRANSPORT = matches(r"http/cpprest_(transport\.cc|body\.(h|cc))")
SERVERS = matches(r"controller/barrier_(server\.cc|relay\.(h|cc))|"
                  r"health/http_(server\.cc|listener\.(h|cc))")
TLS = matches(r"http/(cpprest_transport|tls)\.cc|probe/stream\.cc")
SIGNER = matches(r"oci/\w*(sign|key|credential|certificate)\w*\.(h|cc)")
HASHES = matches(r"oci/backend_set_name\.cc")
JSON = matches(r"base/json\w*\.(h|cc)|(oci|kube)/\w*(codec|decod|encod|metadata_page)\w*\.(h|cc)"
               r"|controller/\w*snapshot\w*\.(h|cc)")


# Library, its headers, who may include them, and that in words.
LIBRARIES = [
    ("cpprestsdk", r"(cpprest|pplx)/.*", TRANSPORT, "http/cpprest_transport.cc"),
    ("c-ares", r"ares\.h", matches(r"cmd/barrier_client\.cc"), "cmd/barrier_client.cc"),
    ("OpenSSL", r"openssl/.*",
     lambda f: SIGNER(f) or HASHES(f) or TLS(f) or f.folder == "sim" or f.test,
     "the signer, certificates and set names of oci/, the TLS files of http/, probe/stream.cc, "
     "sim/ and tests"),
    ("RapidJSON", r"rapidjson/.*", lambda f: JSON(f) or f.folder in ("sim", "bench") or f.test,
     "base/json, the codecs and decoders of oci/ and kube/, the snapshot codec of controller/, "
     "sim/, bench/ and tests"),
    ("gflags", r"gflags/.*", lambda f: f.folder == "cmd" or f.main,
     "cmd/ and files that define main()"),
    ("glog", r"glog/.*", lambda f: f.folder in ("controller", "cmd", "sim") or f.main,
     "controller/, cmd/, sim/ and files that define main()"),
    ("Boost", r"boost/.*",
     lambda f: TRANSPORT(f) or SERVERS(f) or f.folder in ("probe", "sim", "bench") or f.test,
     "probe/, sim/, bench/, tests, http/cpprest_transport.cc, controller/barrier_server.cc, "
     "barrier_relay, and health/http_server.cc and http_listener"),
    ("prometheus-cpp", r"prometheus/.*", matches(r"health/prometheus_metrics\.cc"),
     "health/prometheus_metrics.cc"),
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
    if file.path in FURTHER and included in FURTHER[file.path]:
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

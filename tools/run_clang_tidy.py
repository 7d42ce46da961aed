#!/usr/bin/env python3
"""Runs clang-tidy on the project's .cc files, by .clang-tidy.

Not on tests, nor on what only they use (bench/, fuzz/, sim/): that is as much again,
and it is run, by the sanitizers too.

A file that passed is not looked at again until it, a header of the project
that it includes, the rules or clang-tidy itself change: the hash of all these
is remembered in $XDG_CACHE_HOME/oci-backend-drain/clang-tidy.

usage: tools/run_clang_tidy.py [--jobs N] [ROOT]
"""

import argparse
import concurrent.futures
import hashlib
import os
import re
import subprocess
import sys
import time

import repo_files

# What Bazel gives the compiler; the defines are those of third_party/ and of //cmd:version.
FLAGS = ["-std=c++20", "-I.", "-Wall", "-Wextra", "-DRAPIDJSON_HAS_STDSTRING=1",
         "-D_TURN_OFF_PLATFORM_STRING", '-DOCI_DRAIN_VERSION="0.0.0"']
TEST_FOLDERS = ("bench/", "fuzz/", "sim/")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "oci-backend-drain", "clang-tidy")


class Hasher:
    """Hashes a file together with all it includes from this repository."""

    def __init__(self, root):
        self.root = root
        self.includes = {}
        version = subprocess.run(["clang-tidy", "--version"], check=True, stdout=subprocess.PIPE)
        with open(os.path.join(root, ".clang-tidy"), "rb") as rules:
            self.common = version.stdout + rules.read() + " ".join(FLAGS).encode()

    def closure(self, path):
        seen, waiting = set(), [path]
        while waiting:
            current = waiting.pop()
            if current in seen or not os.path.isfile(os.path.join(self.root, current)):
                continue
            seen.add(current)
            if current not in self.includes:
                text = repo_files.read_text(self.root, current) or ""
                self.includes[current] = (text, INCLUDE.findall(text))
            waiting += self.includes[current][1]
        return sorted(seen)

    def hash(self, path):
        digest = hashlib.sha256(self.common + path.encode())
        for part in self.closure(path):
            digest.update(f"\0{part}\0{self.includes[part][0]}".encode())
        return digest.hexdigest()


def run_one(root, path):
    result = subprocess.run(["clang-tidy", "--quiet", path, "--"] + FLAGS, cwd=root,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    output = result.stdout.decode(errors="replace").strip()
    if result.returncode and not output:
        output = result.stderr.decode(errors="replace").strip()
    return result.returncode, output


def remember(cache, name):
    with open(os.path.join(cache, name), "w", encoding="utf-8"):
        pass


def forget_old(cache):
    """Drops what no run has asked for in a month."""
    for name in os.listdir(cache):
        path = os.path.join(cache, name)
        if os.path.getmtime(path) < time.time() - 30 * 86400:
            os.remove(path)


def main():
    parser = argparse.ArgumentParser(description="Runs clang-tidy on what changed.")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("root", nargs="?", default=".")
    args = parser.parse_args()
    cache = cache_folder()
    os.makedirs(cache, exist_ok=True)
    hasher = Hasher(args.root)
    waiting = {}
    for path in repo_files.list_files(args.root):
        if (path.endswith(".cc") and not path.startswith(TEST_FOLDERS) and
                not repo_files.is_test(path)):
            name = hasher.hash(path)
            if os.path.exists(os.path.join(cache, name)):
                os.utime(os.path.join(cache, name))
            else:
                waiting[path] = name
    if waiting:
        print(f"  clang-tidy: {len(waiting)} files changed since they passed, seconds each",
              file=sys.stderr, flush=True)
    failed, told = 0, time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        running = {pool.submit(run_one, args.root, path): path for path in waiting}
        for done, future in enumerate(concurrent.futures.as_completed(running), 1):
            path = running[future]
            status, output = future.result()
            hasher.includes.clear()
            if status:
                failed += 1
                print(f"clang-tidy {path}:\n{output}", flush=True)
            elif hasher.hash(path) == waiting[path]:  # Nobody edited it meanwhile.
                remember(cache, waiting[path])
            if time.monotonic() - told > 15:
                told = time.monotonic()
                print(f"  clang-tidy: {done} of {len(waiting)} changed files", file=sys.stderr,
                      flush=True)
    forget_old(cache)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

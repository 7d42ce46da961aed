#!/usr/bin/env python3
"""Measures which lines and branches of the pure core its tests reach.

Builds with clang's source-based coverage, for which `bazel coverage` would need
the network, runs the tests, and prints a table: a row for each file of drain/ and
capacity/ that is no test. A branch is one outcome of one condition. With
--missing the lines and branches follow that no test reaches.

usage: tools/coverage.py [--json] [--missing] [TARGET...]
TARGET: tests that count; by default those of the core and its golden cases. Exit
status 1 if a folder is under 100 % of lines or 95 % of branches.
"""

import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

FOLDERS = ("drain", "capacity")
TESTS = ["//drain/...", "//controller:plan_golden_test", "//controller:plan_random_test"]
LINES_PERCENT = 100.0
BRANCHES_PERCENT = 95.0


class Counts:
    def __init__(self):
        self.lines = {}     # number -> times
        self.branches = {}  # (line, block, outcome) -> times

    @staticmethod
    def figures(counted):
        covered = sum(times > 0 for times in counted)
        total = len(counted)
        return {"total": total, "covered": covered,
                "percent": 100.0 * covered / total if total else 100.0}

    def summary(self):
        return {"lines": self.figures(self.lines.values()),
                "branches": self.figures(self.branches.values())}


def run(command, **options):
    return subprocess.run(command, check=False, **options)


def targets_of(args):
    targets = args.targets or TESTS
    if not args.targets and os.path.exists("capacity/BUILD.bazel"):
        targets = targets + ["//capacity/..."]
    return targets


def run_tests(targets, profiles):
    """The programs that were run, or None if one failed."""
    flags = ["--config=coverage", "--nocache_test_results", "--build_tests_only",
             f"--test_env=LLVM_PROFILE_FILE={profiles}/%p-%m.profraw"]
    if not sys.stderr.isatty():
        flags += ["--curses=no", "--show_progress_rate_limit=15"]
    if run(["bazel", "test", *flags, "--", *targets], stdout=sys.stderr).returncode:
        return None
    query = f"tests(set({' '.join(targets)}))"
    labels = run(["bazel", "query", query], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    found = run(["bazel", "info", "--config=coverage", "bazel-bin"], stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL)
    binaries = found.stdout.decode().strip()
    return [os.path.join(binaries, label[2:].replace(":", "/"))
            for label in labels.stdout.decode().split()]


def export(programs, profiles, scratch):
    """The counts as lcov writes them."""
    merged = os.path.join(scratch, "merged")
    raw = glob.glob(os.path.join(profiles, "*.profraw"))
    if not raw or run(["llvm-profdata", "merge", "-o", merged, *raw]).returncode:
        return None
    objects = [programs[0]] + [f"--object={program}" for program in programs[1:]]
    result = run(["llvm-cov", "export", "--format=lcov", f"--instr-profile={merged}", *objects],
                 stdout=subprocess.PIPE)
    return None if result.returncode else result.stdout.decode()


def read_lcov(text):
    """Counts by file of the core, with the path from the root."""
    files, counts = {}, None
    for line in text.splitlines():
        mark, _, rest = line.partition(":")
        if mark == "SF":
            path = rest.removeprefix("/proc/self/cwd/")  # as Bazel calls the root
            is_core = path.split("/")[0] in FOLDERS and "_test." not in path
            counts = files.setdefault(path, Counts()) if is_core else None
        elif counts is not None and mark == "DA":
            number, times = (int(part) for part in rest.split(",")[:2])
            counts.lines[number] = max(counts.lines.get(number, 0), times)
        elif counts is not None and mark == "BRDA":
            number, block, outcome, times = rest.split(",")
            key = (int(number), int(block), int(outcome))
            seen = 0 if times == "-" else int(times)
            counts.branches[key] = max(counts.branches.get(key, 0), seen)
    return files


def by_folder(files):
    """Counts of each folder as a whole."""
    folders = {}
    for path, counts in files.items():
        total = folders.setdefault(path.split("/")[0] + "/", Counts())
        total.lines.update({(path, key): times for key, times in counts.lines.items()})
        total.branches.update({(path, key): times for key, times in counts.branches.items()})
    return folders


def is_enough(summary):
    return (summary["lines"]["percent"] >= LINES_PERCENT
            and summary["branches"]["percent"] >= BRANCHES_PERCENT)


def print_table(files, folders):
    print(f"{'file':<28}{'lines':>14}{'':>9}{'branches':>14}")
    for path, counts in [*sorted(files.items()), *sorted(folders.items())]:
        summary = counts.summary()
        row = "".join(f"{s['covered']:>6} of {s['total']:>4}{s['percent']:>8.1f} %"
                      for s in (summary["lines"], summary["branches"]))
        print(f"{path:<28}{row}")


def print_missing(files):
    for path, counts in sorted(files.items()):
        for number, times in sorted(counts.lines.items()):
            if not times:
                print(f"{path}:{number}: no test reaches this line")
        for (number, _, outcome), times in sorted(counts.branches.items()):
            if not times:
                print(f"{path}:{number}: never {'false' if outcome % 2 else 'true'}")


def main():
    parser = argparse.ArgumentParser(description="Coverage of the pure core by its tests.")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--missing", action="store_true", help="say what is not reached")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    args = parser.parse_args()
    lacking = [tool for tool in ("clang++", "llvm-cov", "llvm-profdata") if not shutil.which(tool)]
    if lacking:
        print(f"coverage.py: needs {', '.join(lacking)} (packages clang, libclang-rt-14-dev, llvm)",
              file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        profiles = os.path.join(scratch, "profiles")
        os.mkdir(profiles)
        programs = run_tests(targets_of(args), profiles)
        text = export(programs, profiles, scratch) if programs else None
    files = read_lcov(text) if text else {}
    if not files:
        print("coverage.py: nothing was measured", file=sys.stderr)
        return 2
    folders = by_folder(files)
    if args.json:
        print(json.dumps({path: counts.summary()
                          for path, counts in sorted([*files.items(), *folders.items()])}, indent=1))
    else:
        print_table(files, folders)
    if args.missing:
        print_missing(files)
    enough = all(is_enough(counts.summary()) for counts in folders.values())
    if not enough and not args.json:
        print(f"under {LINES_PERCENT:.0f} % of lines or {BRANCHES_PERCENT:.0f} % of branches")
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())

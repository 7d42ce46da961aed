#!/usr/bin/env python3
"""Builds the fuzzers of fuzz/ and runs each of them for a while.

A line a fuzzer. One that fails leaves the input that it failed on in
$XDG_CACHE_HOME/oci-backend-drain/fuzz and the command that repeats it; put the
input into testdata/fuzz/NAME with the change that mends it. Each begins from its
folder of testdata/fuzz, and what it finds new is thrown away.

The same program with the same --seed (1) tries the same inputs in the same order, so
that ./check judges a change and not its luck; --seed=0 is another one each time, for
long runs that look for what is new.

usage: tools/run_fuzzers.py [--seconds=N] [--seed=N] [--jobs=N] [--results=FILE] [NAME...]
With --programs=DIR nothing is built: the programs are in DIR. With --results the
line "passed failed 0 fuzz" is added to FILE, as tools/verdict.py reads it. Exit
status 1 if one failed.
"""

import argparse
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

# A single input may take so long, and a fuzzer so much memory.
SECONDS_AN_INPUT = 10
MEGABYTES = 2048
LARGEST_INPUT = 16384


def names_of_fuzzers():
    return sorted(os.path.basename(path)[:-len("_fuzzer.cc")]
                  for path in glob.glob("fuzz/*_fuzzer.cc"))


def build(names):
    """The folder with the programs, or None if they do not build."""
    targets = [f"//fuzz:{name}_fuzzer" for name in names]
    flags = ["--config=fuzz", "--keep_going", "--noshow_loading_progress"]
    if not sys.stderr.isatty():
        flags += ["--curses=no", "--show_progress_rate_limit=15"]
    if subprocess.run(["bazel", "build", *flags, *targets], check=False).returncode:
        return None
    found = subprocess.run(["bazel", "info", "--config=fuzz", "bazel-bin"], check=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return os.path.join(found.stdout.decode().strip(), "fuzz")


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "oci-backend-drain", "fuzz")


def run_one(program, seeds, artifacts, args):
    """Whether it passed, and what there is to say about it."""
    with tempfile.TemporaryDirectory() as scratch:
        found = os.path.join(scratch, "found")
        os.mkdir(found)
        command = [program, f"-max_total_time={args.seconds}", f"-seed={args.seed}",
                   f"-timeout={SECONDS_AN_INPUT}", f"-rss_limit_mb={MEGABYTES}",
                   f"-max_len={LARGEST_INPUT}", "-print_final_stats=1",
                   f"-artifact_prefix={artifacts}", found, seeds]
        result = subprocess.run(command, check=False, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                env={**os.environ, "TMPDIR": scratch, "UBSAN_OPTIONS":
                                     "halt_on_error=1:print_stacktrace=1"})
        new = len(os.listdir(found))
    output = result.stdout.decode(errors="replace")
    runs = re.search(r"number_of_executed_units: (\d+)", output)
    if result.returncode == 0 and runs and int(runs.group(1)):
        return True, f"{runs.group(1)} inputs, {new} of them with something new"
    written = re.search(r"Test unit written to (\S+)", output)
    again = f"\nto repeat: {program} {written.group(1)}" if written else ""
    return False, "\n".join(output.splitlines()[-40:]) + again


def run_all(names, folder, args):
    artifacts = cache_folder()
    os.makedirs(artifacts, exist_ok=True)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        running = {}
        for name in names:
            program = os.path.join(folder, f"{name}_fuzzer")
            prefix = os.path.join(artifacts, f"{name}-")
            running[pool.submit(run_one, program, f"testdata/fuzz/{name}", prefix,
                                args)] = name
        for future in concurrent.futures.as_completed(running):
            passed, words = future.result()
            failed += not passed
            if passed:
                print(f"  ok      {running[future]}: {words}", flush=True)
            else:
                indented = words.replace("\n", "\n    ")
                print(f"  FAILED  {running[future]}:\n    {indented}", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description="Runs the fuzzers of fuzz/.")
    parser.add_argument("--seconds", type=int, default=20, help="for each fuzzer; default 20")
    parser.add_argument("--seed", type=int, default=1, help="of their lots; 0: any")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--results", help="file that tools/verdict.py adds up")
    parser.add_argument("--programs", help="folder of programs that are built already")
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    args = parser.parse_args()
    names = args.names or names_of_fuzzers()
    unknown = sorted(set(names) - set(names_of_fuzzers())) if not args.programs else []
    if unknown:
        print(f"run_fuzzers.py: there is no fuzzer {', '.join(unknown)}; there are "
              f"{', '.join(names_of_fuzzers())}", file=sys.stderr)
        return 2
    if not shutil.which("clang++") and not args.programs:
        print("run_fuzzers.py: needs clang++ (packages clang and libclang-rt-14-dev)",
              file=sys.stderr)
        return 2
    folder = args.programs or build(names)
    failed = len(names) if folder is None else run_all(names, folder, args)
    print(f"  fuzz: {len(names) - failed} passed, {failed} failed")
    if args.results:
        with open(args.results, "a", encoding="utf-8") as results:
            results.write(f"{len(names) - failed} {failed} 0 fuzz\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

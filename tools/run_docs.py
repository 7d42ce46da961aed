#!/usr/bin/env python3
"""Runs the commands of the documentation against the built programs.

Every ```sh block of README.md, CONTRIBUTING.md and docs/*.md is run, in a copy of the
tree's testdata/, unless its info string says what it needs:

  ```sh cluster   a cluster or OCI; the flags of our programs in it must exist
  ```sh source    the source tree, Bazel and time; tools/check_docs.py sees to its paths

A command is to end with 0, or with N where its comment says "exits with N". A block that
a ```text block follows is to print that. `bazel run //cmd:NAME -- ...` runs the built
program, `bazel build` does nothing.

usage: tools/run_docs.py PROGRAMS   (the folder that has them; from the root of the tree)
"""

import glob
import os
import re
import subprocess
import sys
import tempfile

OURS = ("oci-drain-controller", "oci-drain", "drain-wait")
BLOCK = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```[ \t]*$(?:\n\n```text\n(.*?)^```[ \t]*$)?",
                   re.MULTILINE | re.DOTALL)
CALL = re.compile(r"(?:^|[\s/:])(%s)(?: -- | )(.*)" % "|".join(OURS))
BAZEL = """#!/bin/sh
[ "$1" = build ] && exit 0
for word; do
  shift
  case $word in //cmd:*) name=${word#//cmd:} ;; --) break ;; esac
done
exec "$name" "$@"
"""


def commands_of(block):
    """(the command, the status that it is to end with), continued lines joined."""
    for line in re.sub(r"\\\n\s*", "", block).splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            said = re.search(r"#.*\bexits with (\d+)", line)
            yield line, int(said.group(1)) if said else 0


def script_of(block):
    lines = []
    for number, (command, status) in enumerate(commands_of(block)):
        lines += [command, f'got=$?; if [ "$got" != {status} ]; then '
                  f'echo "command {number + 1} ended with $got" >&2; exit 99; fi']
    return "\n".join(lines) + "\n"


def run_block(block, output, folder, programs):
    bin_folder = os.path.join(folder, "bin")
    environment = {"PATH": f"{bin_folder}:{os.environ['PATH']}", "HOME": folder}
    ran = subprocess.run(["bash", "-u", "-c", script_of(block)], cwd=folder, env=environment,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=False)
    out, err = ran.stdout.decode(), ran.stderr.decode()
    if ran.returncode:
        return f"failed: {err}{out}"
    if output is not None and out != output:
        return f"does not print what follows it, but:\n{out}"
    return None


def prepare(folder, programs):
    os.makedirs(os.path.join(folder, "bin"))
    os.makedirs(os.path.join(folder, "bazel-bin"))
    os.symlink(os.path.abspath(programs), os.path.join(folder, "bazel-bin", "cmd"))
    subprocess.run(["cp", "-rL", "testdata", os.path.join(folder, "testdata")], check=True)
    for name in OURS:
        os.symlink(os.path.abspath(os.path.join(programs, name)),
                   os.path.join(folder, "bin", name))
    bazel = os.path.join(folder, "bin", "bazel")
    with open(bazel, "w", encoding="utf-8") as file:
        file.write(BAZEL)
    os.chmod(bazel, 0o755)


def known_flags(programs):
    flags = {}
    for name in OURS:
        text = subprocess.run([os.path.join(programs, name), "--help"], check=True,
                              stdout=subprocess.PIPE).stdout.decode()
        flags[name] = set(re.findall(r"^  --(\w+)", text, re.MULTILINE))
        flags[name] |= {"help", "version", "v", "minloglevel"}
    return flags


def wrong_flags(block, flags):
    for command, _ in commands_of(block):
        found = CALL.search(command.split("#")[0])
        for flag in re.findall(r"(?:^|\s)--([\w-]+)", found.group(2)) if found else ():
            if flag.replace("-", "_") not in flags[found.group(1)]:
                yield f"{found.group(1)} has no flag --{flag}"


def main():
    programs = sys.argv[1]
    flags = known_flags(programs)
    problems, counts = [], {}
    for page in ["README.md", "CONTRIBUTING.md"] + sorted(glob.glob("docs/*.md")):
        with open(page, encoding="utf-8") as file:
            text = file.read()
        for language, mark, block, output in BLOCK.findall(text):
            if language != "sh":
                continue
            mark = mark.strip()
            counts[mark or "run"] = counts.get(mark or "run", 0) + 1
            found = list(wrong_flags(block, flags))
            if not mark:
                with tempfile.TemporaryDirectory() as folder:
                    prepare(os.path.join(folder, "tree"), programs)
                    found.append(run_block(block, output or None,
                                           os.path.join(folder, "tree"), programs))
            line = text[:text.index(block)].count("\n") + 1
            problems += [f"{page}:{line}: {words}" for words in found if words]
    print("\n".join(problems), end="\n" if problems else "")
    print("blocks:", ", ".join(f"{count} {mark}" for mark, count in sorted(counts.items())))
    return 1 if problems or not counts.get("run") else 0


if __name__ == "__main__":
    sys.exit(main())

"""Which files belong to the project: what the linters look at."""

import os
import subprocess

CXX_SUFFIXES = (".cc", ".h")

# What tools/self_test.sh feeds to the linters is no part of the project.
SAMPLES = "tools/testdata/tree/"


def list_files(root):
    """Paths below `root`, relative and sorted: tracked and new files that git
    does not ignore, or every file where `root` is not a git work tree."""
    if os.path.exists(os.path.join(root, ".git")):
        listed = subprocess.run(
            ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
        paths = [path for path in listed if path]
    else:
        paths = [os.path.relpath(os.path.join(folder, name), root)
                 for folder, _, names in os.walk(root) for name in names]
    return sorted(path for path in set(paths)
                  if not path.startswith(SAMPLES)
                  and os.path.isfile(os.path.join(root, path))
                  and not os.path.islink(os.path.join(root, path)))


def read_text(root, path):
    """The file's text, or None if it is not UTF-8 text."""
    with open(os.path.join(root, path), "rb") as file:
        data = file.read()
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def is_test(path):
    """Tests and what only tests use: file names say it."""
    name = os.path.basename(path)
    stem = name.rsplit(".", 1)[0]
    return stem.endswith("_test") or "testing" in stem or "test_" in stem or "_test_" in stem

#!/usr/bin/env python3
"""Checks the small rules that keep the code readable.

At most 70 lines a function and 500 a file of code, header guards, no left-over marks,
no paths of somebody's machine, clean whitespace, and one file that reads the
real clock.

usage: tools/tidy.py [ROOT]
"""

import re
import sys

import repo_files

FUNCTION_LINES = 70
FILE_LINES = 500
CODE = (".cc", ".h", ".py", ".sh")

# Written in pieces, so that this file passes its own check.
LEFT_OVER = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"])
                       + r")\b")
MACHINE_PATH = re.compile(r"(?<![\w.~})/-])/(?:" + "|".join(["work", "tmp", "root", "home"]) + r")/")
CLOCK = re.compile(r"\babsl::Now\(|\babsl::SleepFor\(|_clock::now\(|\bsleep_for\(|\bsleep_until\("
                   r"|\bu?sleep\(|\bgettimeofday\(|\bclock_gettime\(")
READS_CLOCK = re.compile(r"base/clock\.(h|cc)|bench/.*")
VIRTUAL = re.compile(r"\bvirtual\b")
PURE = ("annotations/", "drain/", "capacity/")

CLASS = re.compile(r"\b(class|struct|union|enum)\b[^(]*$")
NAMESPACE = re.compile(r'\bnamespace\b|\bextern\s*""')
RAW_STRING = re.compile(r'R"([^()\\\s]{0,16})\(.*?\)\1"', re.DOTALL)
PLAIN_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![\w])\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)


def blank(match):
    """Keeps the line breaks, so that line numbers stay right."""
    text = match.group(0)
    quotes = '""' if text.startswith(("R", '"')) else ""
    return quotes + "\n" * text.count("\n")


def strip_cxx(text):
    """`text` without comments, the insides of strings, and preprocessor lines."""
    text = PLAIN_TOKEN.sub(blank, RAW_STRING.sub(blank, text))
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: "\n" * m.group(0).count("\n"),
                  text, flags=re.MULTILINE)


def is_function(head):
    """Whether the text before a brace begins a function's body."""
    head = re.sub(r"\btemplate\s*<[^{]*?>\s*(?=\w)", "", head)
    if "(" not in head:
        return False
    outside = head
    while True:
        shorter = re.sub(r"\([^()]*\)", "", outside)
        if shorter == outside:
            break
        outside = shorter
    if "operator" in outside:
        return True
    return not re.search(r"(?<![=<>!])=(?!=)", outside)


def functions(text):
    """Yields (first line, last line, head) of every function in C++ text."""
    code = strip_cxx(text)
    scopes = []  # Of "scope", "other" or (first line, head) for a function.
    head_start = 0
    for match in re.finditer(r"[{};]|(?<!:):(?!:)", code):
        mark, at = match.group(0), match.start()
        inside = any(scope != "scope" for scope in scopes)
        if mark == "{":
            head = code[head_start:at]
            if inside:
                scopes.append("other")
            elif NAMESPACE.search(head) or (CLASS.search(head) and not head.rstrip().endswith("=")):
                scopes.append("scope")
            elif is_function(head):
                begin = head_start + len(head) - len(head.lstrip())
                scopes.append((code.count("\n", 0, begin) + 1, " ".join(head.split())))
            else:
                scopes.append("other")
        elif mark == "}" and scopes:
            scope = scopes.pop()
            if isinstance(scope, tuple):
                yield scope[0], code.count("\n", 0, at) + 1, scope[1]
        elif mark == ":" and not re.search(r"\b(public|private|protected)\s*$",
                                           code[head_start:at]):
            continue
        if not inside or mark == "}":
            head_start = match.end()


def check_cxx(path, text):
    for first, last, head in functions(text):
        if last - first + 1 > FUNCTION_LINES:
            yield first, f"function of {last - first + 1} lines, {FUNCTION_LINES} allowed: {head[:60]}"
    code = strip_cxx(text)
    if path.endswith(".h"):
        guard = "OCI_BACKEND_DRAIN_" + re.sub(r"\W", "_", path).upper() + "_"
        if not re.search(rf"^#ifndef {guard}\n#define {guard}$", text, re.MULTILINE):
            yield 1, f"header guard {guard} is missing"
        elif not text.rstrip().endswith(f"#endif  // {guard}"):
            yield text.count("\n"), f"the last line is to be: #endif  // {guard}"
    rules = []
    if not READS_CLOCK.fullmatch(path):
        rules.append((CLOCK, "reads the real clock or sleeps; take `now` or a base::Clock"))
    if path.startswith(PURE):
        rules.append((VIRTUAL, "the pure core has no virtual functions"))
    for pattern, words in rules:
        for match in pattern.finditer(code):
            yield code.count("\n", 0, match.start()) + 1, f"{match.group(0)} {words}"


def check_text(path, text):
    lines = text.split("\n")
    if path.endswith(CODE) and len(lines) - 1 > FILE_LINES:
        yield 1, f"file of {len(lines) - 1} lines, {FILE_LINES} allowed"
    may_name_paths = repo_files.is_test(path) or "testdata/" in path
    for number, line in enumerate(lines, 1):
        if LEFT_OVER.search(line):
            yield number, f"left-over mark {LEFT_OVER.search(line).group(0)}"
        if not may_name_paths and MACHINE_PATH.search(line):
            yield number, f"path of one machine: {line.strip()[:60]}"
        if "testdata/" in path:
            continue
        if line != line.rstrip():
            yield number, "white space at the end of the line"
        if "\t" in line and not path.endswith((".md", "LICENSE")):
            yield number, "tab"
    if text and not text.endswith("\n") and "testdata/" not in path:
        yield len(lines), "no line break at the end of the file"


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    problems = []
    for path in repo_files.list_files(root):
        text = repo_files.read_text(root, path)
        if text is None:
            continue
        found = list(check_text(path, text))
        if path.endswith(repo_files.CXX_SUFFIXES):
            found += check_cxx(path, text)
        problems += [f"{path}:{line}: {words}" for line, words in sorted(found)]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

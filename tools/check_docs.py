#!/usr/bin/env python3
"""Checks that what the documentation points at exists.

Relative links and their #anchors, the identifier that a link to a source file is
labelled with, file and folder names in `code`, tests named `Suite.Name`, Bazel
labels, the cases of docs/field_reports.md, and that every decision is in the index
of docs/adr/ and every library in third_party/README.md. tools/docs_rules.py has more.

usage: tools/check_docs.py [ROOT]
"""

import os
import re
import sys

import docs_rules
import repo_files

LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)(?:\s+\"[^\"]*\")?\)")
REFERENCE = re.compile(r"^\[[^\]]+\]:\s+(\S+)", re.MULTILINE)
FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
LABEL = re.compile(r"(?<![\w:/])//([a-z_]\w*(?:/[\w-]+)*)?(?::([\w-]+(?:\.[\w-]+)*))?(/\.\.\.)?"
                   r"(?![\w/])")
IDENTIFIER = re.compile(r"`([A-Za-z_][\w:~]*)(?:\(\))?`")
TEST = re.compile(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", re.MULTILINE)
TEST_NAME = re.compile(r"[A-Z]\w+\.[A-Z]\w+")
REPORTS = "docs/field_reports.md"
SOURCE = (".cc", ".h", ".py", ".sh", ".bzl")


def anchors(text):
    """The anchors that a Markdown page offers, as GitHub makes them."""
    seen = {}
    found = set(re.findall(r'<a (?:id|name)="([^"]+)"', text))
    for heading in re.findall(r"^#{1,6}\s+(.+?)\s*#*$", FENCE.sub("", text), re.MULTILINE):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-")
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        found.add(slug if count == 0 else f"{slug}-{count}")
    return found


class Docs:
    def __init__(self, root):
        self.root = root
        self.files = repo_files.list_files(root)
        self.folders = {os.path.dirname(path) for path in self.files}
        for folder in list(self.folders):
            while folder:
                folder = os.path.dirname(folder)
                self.folders.add(folder)
        self.tests = {".".join(test) for path in self.files if path.endswith("_test.cc")
                      for test in TEST.findall(self.read(path))}
        self.top = {path.split("/")[0] for path in self.files if "/" in path}

    def exists(self, path):
        return path in self.files or path.rstrip("/") in self.folders

    def read(self, path):
        return repo_files.read_text(self.root, path) or "" if path in self.files else ""

    def check_link(self, page, label, target):
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            return None
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if path != "." and not self.exists(path):
            return f"link to {target}: there is no {path}"
        if anchor and not path.endswith(".md"):
            return f"link to {target}: line anchors rot; link the file and name the function"
        if anchor and anchor not in anchors(self.read(path)):
            return f"link to {target}: {path} has no such heading"
        if path.endswith(SOURCE):
            for name in IDENTIFIER.findall(label):
                last = name.split("::")[-1]
                if "." not in name and not re.search(rf"\b{re.escape(last)}\b", self.read(path)):
                    return f"link to {target}: {path} does not mention {name}"
        return None

    def check_code(self, text):
        """A problem with a path in `code`, or None. Patterns and options are not paths."""
        path = text.strip().split(" ")[0].removeprefix("./").rstrip(":,.")
        if re.search(r"[<>*{}$?=()\[\]]|\.\.\.", path) or "/" not in path:
            return None
        folder = re.fullmatch(r"[a-z_]+/", path)
        if path.split("/")[0] not in self.top and not folder:
            return None
        is_path = path.endswith("/") or re.search(r"\.\w{1,6}$", path)
        if is_path and not self.exists(path):
            return f"`{text}`: there is no {path}"
        return None

    def check_test(self, page, text):
        """A problem with the name of a test or of a golden case, or None."""
        if TEST_NAME.fullmatch(text):
            return None if text in self.tests else f"`{text}`: there is no such test"
        if page == REPORTS and re.fullmatch(r"[a-z]\w*_\w+", text):
            case = f"testdata/drain/{text}.in.json"
            return None if self.exists(case) else f"`{text}`: there is no {case}"
        return None

    def check_label(self, match):
        package, target, _ = match.groups()
        package = package or ""
        if package.split("/")[0] not in self.top:
            return None
        if match.group(3):
            return None if package in self.folders else f"{match.group(0)}: no such folder"
        build = next((path for path in (f"{package}/BUILD.bazel", f"{package}/BUILD")
                      if path in self.files), None)
        if build is None:
            return f"{match.group(0)}: {package}/ has no BUILD.bazel"
        target = target or package.split("/")[-1]
        if target != "all" and f'"{target}"' not in self.read(build):
            return f"{match.group(0)}: {build} has no target {target}"
        return None

    def check_page(self, page):
        text = self.read(page)

        def at(match):
            return text.count("\n", 0, match.start()) + 1

        prose = FENCE.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)
        for match in LINK.finditer(prose):
            yield at(match), self.check_link(page, match.group(1), match.group(2))
        for match in REFERENCE.finditer(prose):
            yield at(match), self.check_link(page, "", match.group(1))
        for match in CODE.finditer(prose):
            yield at(match), self.check_code(match.group(1))
            yield at(match), self.check_test(page, match.group(1))
        for match in LABEL.finditer(text):
            yield at(match), self.check_label(match)

    def check_reports(self):
        """Each report has a case, or says what is open."""
        for number, line in enumerate(self.read(REPORTS).splitlines(), 1):
            if not re.match(r"\| *\d+ *\|", line):
                continue
            case = line.rstrip(" |").split("|")[-1]
            if "`" not in case and "open:" not in case:
                yield f"{REPORTS}:{number}: neither a case nor what is open"

    def check_indexes(self):
        for path in self.files:
            folder, name = os.path.split(path)
            if folder == "docs/adr" and name.endswith(".md") and name != "README.md":
                if name not in self.read("docs/adr/README.md"):
                    yield f"docs/adr/README.md: does not list {name}"
            if re.fullmatch(r"third_party/\w+/BUILD(\.bazel)?", path):
                library = path.split("/")[1]
                if f"`{library}`" not in self.read("third_party/README.md"):
                    yield f"third_party/README.md: does not list `{library}`"


def main():
    docs = Docs(sys.argv[1] if len(sys.argv) > 1 else ".")
    problems = []
    for page in docs.files:
        if page.endswith(".md") and not page.startswith("tools/testdata/"):
            problems += [f"{page}:{line}: {words}" for line, words in docs.check_page(page) if words]
            problems += docs_rules.shell_blocks(page, docs)
    problems += docs.check_indexes()
    problems += docs.check_reports()
    for rule in (docs_rules.configuration, docs_rules.bounds, docs_rules.licences):
        problems += rule(docs)
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

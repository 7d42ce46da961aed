"""Rules of tools/check_docs.py that hold pages and code together: marks of commands,
docs/configuration.md, the bounds of docs/limits.md, licences in third_party/README.md."""

import re

BLOCK = re.compile(r"^```(\w+)([^\n`]*)\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
SHELL = ("bash", "console", "shell", "zsh")
MARKS = ("", "cluster", "source")
# What tools/run_docs.py cannot run.
NEEDS_MARK = re.compile(r"^\s*((?:kubectl|helm|oci|docker|skopeo|git)\s|\./|[a-z]+/|bazel test|"
                        r"bazel run (?!//cmd:(?:oci-drain|oci-drain-controller|drain-wait) ))",
                        re.MULTILINE)
CONFIGURATION = "docs/configuration.md"
FLAG = re.compile(r"^DEFINE_\w+\(\s*(\w+),.*?\);", re.MULTILINE | re.DOTALL)
LITERALS = re.compile(r'((?:"(?:[^"\\]|\\.)*"\s*)+)\);$')
TOLD = re.compile(r'(?:\{(?:true|false),\s*(?:std::string\()?|TellLoadBalancer\(\s*)"([A-Z]\w+)"')
LIMITS = "docs/limits.md"
BOUND = re.compile(r"\b(?:constexpr|static constexpr|inline constexpr)\s+[\w:]+\s+"
                   r"(k(?:Max|Longest|Largest)\w*)\s*=\s*([^;]+);")
# Bounds of what is read; the others bound what is quoted or written.
READS = re.compile(r"Max(?!Quoted|Note|Message|StatusMessage|Reason|Code|Excerpt|Refusal|RequestId"
                   r"|Word|Excess)\w*(?:Bytes|Depth|Entries|Backends|Regions|Values|Aliases)$")
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def shell_blocks(page, docs):
    """Each block of shell says what it needs, and the paths in it exist."""
    text = docs.read(page)
    for language, mark, body in BLOCK.findall(text):
        line = text[:text.index(body)].count("\n")
        where = f"{page}:{line}"
        if language in SHELL:
            yield f"{where}: write ```sh, not ```{language}"
        if language != "sh":
            continue
        if mark.strip() not in MARKS:
            yield f"{where}: ```sh{mark}: a block of shell is run, or marked cluster or source"
        elif not mark.strip() and NEEDS_MARK.search(body):
            yield (f"{where}: tools/run_docs.py cannot run this: mark it ```sh source (the tree "
                   "and Bazel) or ```sh cluster")
        for path in re.findall(r"(?:^|\s)(?:\./)?((?:tools|deploy|testdata)/[\w./-]*\w)", body):
            if not docs.exists(path) and "/tmp" not in path:
                yield f"{where}: there is no {path}"


def description_of(definition):
    found = LITERALS.search(definition)
    if not found:
        return ""
    words = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found.group(1)))
    return re.sub(r"\\(.)", r"\1", words)


def configuration(docs):
    """What the code defines is on the page; the whole page is compared by a test."""
    page = docs.read(CONFIGURATION)
    if not page:
        return
    cure = f"{CONFIGURATION}: run tools/make_configuration.py:"
    for path in docs.files:
        if not re.fullmatch(r"cmd/\w+\.cc", path) or "wedge" in path or path.endswith("_test.cc"):
            continue
        for found in FLAG.finditer(docs.read(path)):
            text = description_of(found.group(0)).split(": ")[-1].replace("|", "\\|")
            text = re.sub(r"\bdocs/(\w+\.md)", r"[\1](\1)", text)
            if f"`--{found.group(1)}`" not in page:
                yield f"{cure} it lacks --{found.group(1)} of {path}"
            elif text not in page:
                yield f"{cure} --{found.group(1)} of {path} says something else"
    reasons = set(re.findall(r'\{"(\w+)", (?:true|false)', docs.read("annotations/reasons.cc")))
    reasons |= set(re.findall(r'\{"(\w+)",\s*(?:true|false)', docs.read("annotations/reasons.cc")))
    names = reasons | set(re.findall(r"\boci_drain_\w+", docs.read("health/prometheus_metrics.cc")))
    names |= set(re.findall(r'"([\w.-]+/[\w-]+)"', docs.read("annotations/table.h")))
    yield from (f"{cure} it lacks {name}" for name in sorted(names) if f"`{name}`" not in page)
    yield from event_reasons(docs, reasons)


def event_reasons(docs, reasons):
    """Each reason of an Event in the code is in the table, and the other way round."""
    written = set(re.findall(r'return "([A-Z]\w+)";', docs.read("drain/describe.cc")))
    written |= set(re.findall(r'return "([A-Z]\w+)";', docs.read("capacity/plan.cc")))
    for path in docs.files:
        if path.startswith("controller/") and path.endswith(".cc") and "_test" not in path:
            written |= set(TOLD.findall(docs.read(path)))
    for reason in sorted(written - reasons - {"Unknown"}):
        yield f"annotations/reasons.cc: lacks the reason {reason}, which is told"
    for reason in sorted(reasons - written):
        yield f"annotations/reasons.cc: {reason} is told nowhere"


def value_of(expression):
    """The number that a constant of the code has, or None."""
    text = re.sub(r"size_t\{(\d+)\}", r"\1", expression).replace("'", "")
    duration = re.fullmatch(r"absl::(\w+)\((\d+)\)", text)
    if duration:
        unit = {"Milliseconds": "ms", "Seconds": "s", "Minutes": "min", "Hours": "h"}
        return f"{duration.group(2)} {unit[duration.group(1)]}"
    shifted = re.fullmatch(r"(\d+) << (\d+)", text)
    if shifted:
        return int(shifted.group(1)) << int(shifted.group(2))
    return int(text) if text.isdigit() else None


def written_value(text):
    """64, "10,000", "8 KiB" and "60 s" as value_of gives them."""
    text = text.strip()
    sized = re.fullmatch(r"([\d,]+)(?: (KiB|MiB|GiB))?", text)
    if sized:
        return int(sized.group(1).replace(",", "")) * UNITS.get(sized.group(2), 1)
    return text


def bounds(docs):
    """The table of bounds has each bound of a reader, with the value of the code."""
    page = docs.read(LIMITS)
    if not page:
        return
    listed = set()
    for value, name, path in re.findall(
            r"^\|[^|\n]*\|([^|\n]*)\| `(\w+)` \| \[[^\]]*\]\(\.\./([^)]*)\) \|$", page,
            re.MULTILINE):
        code = dict(BOUND.findall(docs.read(path)))
        code.update(re.findall(r"\b(?:size_t|int|int64_t) (\w+) = ([\d'<\s]+);", docs.read(path)))
        listed.add((path, name))
        if name not in code:
            yield f"{LIMITS}: {path} has no {name}"
        elif value_of(code[name]) != written_value(value):
            yield f"{LIMITS}: {name} of {path} is {code[name]}, not {value.strip()}"
    for path in docs.files:
        folder = path.split("/")[0]
        if folder not in ("base", "oci", "kube", "http", "controller", "annotations", "cmd"):
            continue
        if not path.endswith((".cc", ".h")) or "test" in path:
            continue
        for name, expression in BOUND.findall(docs.read(path)):
            if not READS.search(name) or value_of(expression) is None:
                continue
            if (path, name) not in listed:
                yield f"{LIMITS}: lacks {name} of {path}"


def licences(docs):
    """Each library is listed with a licence and a reason."""
    text = docs.read("third_party/README.md")
    heads = next((line for line in text.splitlines() if line.startswith("| target")), "")
    columns = [head.strip() for head in heads.strip("|").split("|")]
    for needed in ("licence", "why"):
        if needed not in columns:
            yield f"third_party/README.md: its table has no column {needed}"
            return
    for row in re.findall(r"^\| `.*$", text, re.MULTILINE):
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        fields = dict(zip(columns, cells))
        for needed in ("licence", "why"):
            if not fields.get(needed):
                yield f"third_party/README.md: {cells[0]} has no {needed}"

#!/usr/bin/env python3
"""Makes docs/configuration.md: every flag, annotation, Event, Pod condition and metric.

It asks the built programs for their flags (--help) and //cmd:print_reference for the
tables of the code. Without --check it writes the page, with it it compares.

usage: tools/make_configuration.py [--check] [--programs=FOLDER]
Without --programs it builds them with Bazel.
"""

import os
import re
import subprocess
import sys

PAGE = "docs/configuration.md"
CONTROLLER, TOOL, WAIT = "oci-drain-controller", "oci-drain", "drain-wait"
PROGRAMS = (CONTROLLER, TOOL, WAIT, "print_reference")
FLAG = re.compile(r"^  --(\w+)(=VALUE)?\n      (.*)\n", re.MULTILINE)
DEFAULT = re.compile(r"^(.*) \(default (.*)\)$")
# "plan, explain: ...": the commands of oci-drain that a flag is for.
COMMANDS = re.compile(r"^((?:[a-z]+(?: -f)?, )*[a-z]+(?: -f)?): (.*)$")

HEAD = """\
# Configuration

Every flag, annotation, Event, Pod condition and metric. Made from the programs and the
tables of the code by `tools/make_configuration.py`; `//cmd:documentation_test` fails when
it is stale.

A flag is written `--name=value` or `--name value`, a hyphen counts as an underscore, and
`--name` and `--noname` switch one that takes `true` or `false`. A wrong flag ends the
program with status 2 and one line that says what is wrong. Durations are such as `200ms`,
`10s` and `1m30s`. `--help` prints what is here, `--version` the version. Logs are glog's:
`--minloglevel=1` leaves out what is no warning, `--v=1` to `--v=9` tell more.
"""


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode()


def cell(text):
    return re.sub(r"\bdocs/([\w]+\.md)", r"[\1](\1)", text.replace("|", "\\|"))


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def flags_of(help_text):
    """name -> (default, what it is for)"""
    flags = {}
    for name, _, text in FLAG.findall(help_text):
        found = DEFAULT.match(text)
        flags[name] = (found.group(2), found.group(1)) if found else ("", text)
    return flags


def flag_rows(flags, with_commands=False):
    for name, (default, text) in sorted(flags.items()):
        commands = COMMANDS.match(text) if with_commands else None
        row = [f"`--{name}`", f"`{default}`" if default else "none"]
        if with_commands:
            row.append(commands.group(1) if commands else "several")
        yield row + [cell(commands.group(2) if commands else text)]


def usage_of(help_text):
    """The lines of --help that show how the program is called."""
    lines = help_text.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("  "))
    end = next(i for i in range(begin, len(lines)) if not lines[i])
    return "```text\n" + "\n".join(line[2:] for line in lines[begin:end]) + "\n```\n"


def flag_sections(programs):
    helps = {name: run(os.path.join(programs, name), "--help") for name in (CONTROLLER, TOOL, WAIT)}
    flags = {name: flags_of(text) for name, text in helps.items()}
    shared = {name: flag for name, flag in flags[CONTROLLER].items() if name in flags[TOOL]}
    own = {name: flag for name, flag in flags[CONTROLLER].items() if name not in shared}
    tool = {name: flag for name, flag in flags[TOOL].items() if name not in shared}
    heads = ("flag", "default", "meaning")
    yield f"## Flags of `{CONTROLLER}` and of `{TOOL}`\n\n" + table(heads, flag_rows(shared))
    yield f"## Flags of `{CONTROLLER}`\n\n" + table(heads, flag_rows(own))
    yield (f"## `{TOOL}`\n\n" + usage_of(helps[TOOL]) + "\n" +
           table(("flag", "default", "command", "meaning"), flag_rows(tool, with_commands=True)))
    yield f"## `{WAIT}`\n\n" + usage_of(helps[WAIT]) + "\n" + table(heads, flag_rows(flags[WAIT]))


def name_section(rows):
    text = ("## Annotations, labels and conditions\n\nWhat a value may be is in "
            "[annotations.md](annotations.md).\n\n")
    return text + table(("name", "on", "default", "meaning"), [
        (f"`{name}`", place if kind == "annotation" else f"{place} ({kind})",
         f'`"{default}"`' if default else "none", cell(meaning))
        for kind, place, name, default, meaning in rows])


def event_section(rows):
    text = ("## Events\n\n`events.k8s.io/v1`, of the controller. A note names the objects, the "
            "cause and the cure.\nWhat repeats is counted in a series. An event marked with * is "
            "followed by a Normal\none of the same name with `Ended` when it is over. What is "
            "about a Service that is not\nknown any more is on the IngressClass.\n\n")
    return text + table(("reason", "type", "on", "when", "what to do"), [
        (f"`{reason}`{' *' if ends else ''}", kind, regarding, cell(when), cell(cure))
        for reason, kind, regarding, ends, when, cure in rows])


def condition_section(rows):
    text = "## Reasons of Pod conditions\n\n"
    return text + table(("condition", "reason", "status", "when"), [
        (f"`{condition.split('/')[1]}`", f"`{reason}`", status, cell(meaning))
        for condition, reason, status, meaning in rows])


def labels_of(samples):
    """label -> its values, or none where they come from the cluster."""
    labels = {}
    for sample in samples:
        for label, value in re.findall(r'(\w+)="([^"]*)"', sample):
            if label != "le":
                labels.setdefault(label, []).append(value)
    texts = []
    for label, values in sorted(labels.items()):
        words = ", ".join(sorted(set(values) - {"*"}))
        texts.append(f"`{label}`" + (f" ({words})" if words else ""))
    return "; ".join(texts)


def metric_section(text):
    rows = []
    for name, what in sorted(re.findall(r"^# HELP (\w+) (.*)$", text, re.MULTILINE)):
        kind = re.search(rf"^# TYPE {name} (\w+)$", text, re.MULTILINE).group(1)
        samples = re.findall(rf"^{name}(?:_bucket)?(\{{.*\}}) ", text, re.MULTILINE)
        rows.append((f"`{name}`", kind, labels_of(samples), cell(what)))
    return ("## Metrics\n\nOn `/metrics` of `--health_port` ([health.md](health.md#the-endpoints))."
            "\n\n" + table(("metric", "type", "labels", "meaning"), rows))


def make(programs):
    tables, metrics = run(os.path.join(programs, "print_reference")).split("metrics\n", 1)
    rows = {"name": [], "event": [], "reason": []}
    for line in tables.splitlines():
        kind, *fields = line.split("\t")
        rows[kind].append(fields)
    return "\n".join([HEAD, *flag_sections(programs), name_section(rows["name"]),
                      event_section(rows["event"]), condition_section(rows["reason"]),
                      metric_section(metrics)])


def main():
    arguments = sys.argv[1:]
    check = "--check" in arguments
    programs = next((a.split("=", 1)[1] for a in arguments if a.startswith("--programs=")), None)
    if programs is None:
        subprocess.run(["bazel", "build", *(f"//cmd:{name}" for name in PROGRAMS)], check=True)
        programs = "bazel-bin/cmd"
    text = make(programs)
    if not check:
        with open(PAGE, "w", encoding="utf-8") as page:
            page.write(text)
        return 0
    with open(PAGE, encoding="utf-8") as page:
        before = page.read().splitlines()
    after = text.splitlines()
    stale = [f"- {line}" for line in before if line not in after]
    stale += [f"+ {line}" for line in after if line not in before]
    if stale or before != after:
        print(f"{PAGE} is stale: run tools/make_configuration.py", *stale, sep="\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

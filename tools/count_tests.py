#!/usr/bin/env python3
"""Counts test cases in the build event file of one `bazel test`.

A GoogleTest case counts by itself; a test without cases of its own counts as
one. Skipped are what called GTEST_SKIP and the tests that print a line
`SKIP: why`. Failed are also targets that do not build, and a bazel that failed
for any other reason.

usage: tools/count_tests.py BUILD_EVENT_FILE BAZEL_EXIT_STATUS RESULTS NAME
Appends the line "passed failed skipped NAME" to the file RESULTS and prints
what failed and what was skipped.
"""

import json
import re
import sys
import urllib.parse
import xml.etree.ElementTree as xml

SKIP = re.compile(r"^SKIP: *(.*)$", re.MULTILINE)


class Count:
    def __init__(self):
        self.passed, self.failed, self.skipped = 0, [], []


def path_of(uri):
    return urllib.parse.unquote(urllib.parse.urlparse(uri).path)


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def count_cases(count, label, cases):
    for case in cases:
        name = f"{label} {case.get('classname')}.{case.get('name')}"
        skipped = case.find("skipped")
        if case.get("status") == "notrun":
            count.skipped.append(f"{name}: disabled")
        elif case.find("failure") is not None or case.find("error") is not None:
            count.failed.append(name)
        elif skipped is not None:
            why = (skipped.get("message") or "").strip().split("\n")[-1]
            count.skipped.append(f"{name}: {why}")
        else:
            count.passed += 1


def count_result(count, label, result):
    outputs = {output["name"]: path_of(output["uri"])
               for output in result.get("testActionOutput", []) if "uri" in output}
    good = result["status"] in ("PASSED", "FLAKY")
    try:
        cases = list(xml.parse(outputs["test.xml"]).iter("testcase"))
    except (KeyError, OSError, xml.ParseError):
        cases = []
    cases = [case for case in cases if case.get("classname")]
    failed_before = len(count.failed)
    if cases:
        count_cases(count, label, cases)
        if not good and len(count.failed) == failed_before:
            count.failed.append(f"{label} ({result['status']} after its cases)")
        return
    skip = SKIP.search(read(outputs.get("test.log", "")))
    if not good:
        count.failed.append(f"{label} ({result['status']})")
    elif skip:
        count.skipped.append(f"{label}: {skip.group(1)}")
    else:
        count.passed += 1


def count_events(events):
    """Counts the last attempt of every run and shard, and what did not build."""
    count, results = Count(), {}
    for event in events:
        ident = event["id"]
        if "testResult" in event:
            key = ident["testResult"]
            results[key["label"], key.get("run"), key.get("shard")] = event["testResult"]
        elif "targetCompleted" in ident and not event.get("completed", {}).get("success"):
            count.failed.append(f"{ident['targetCompleted']['label']} does not build")
    for (label, _, _), result in sorted(results.items(), key=lambda item: str(item[0])):
        count_result(count, label, result)
    return count


def main():
    events_path, status, results_path, name = sys.argv[1:5]
    events = [json.loads(line) for line in read(events_path).splitlines() if line.strip()]
    count = count_events(events)
    if status != "0" and not count.failed:
        count.failed.append(f"bazel ended with status {status}")
    if not count.passed and not count.failed and not count.skipped:
        count.failed.append("no test ran")
    for what in count.skipped:
        print(f"  skipped: {what}")
    for what in count.failed:
        print(f"  FAILED: {what}")
    print(f"  {name}: {count.passed} passed, {len(count.failed)} failed, "
          f"{len(count.skipped)} skipped")
    with open(results_path, "a", encoding="utf-8") as results:
        results.write(f"{count.passed} {len(count.failed)} {len(count.skipped)} {name}\n")
    return 1 if count.failed else 0


if __name__ == "__main__":
    sys.exit(main())

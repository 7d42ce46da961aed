#!/usr/bin/env python3
"""Compares the metrics of the code with those that the alerts and the dashboard use.

Each that is used must exist, and each that exists must be on the dashboard. Writes the
dashboard's queries as Prometheus rules to the file named by the argument, so that
promtool can say whether they are well formed.
"""

import json
import re
import sys

ALERTS = "deploy/prometheus/alerts.yaml"
DASHBOARD = "deploy/grafana/oci-backend-drain.json"
CODE = "health/prometheus_metrics.cc"
NAME = re.compile(r"\boci_drain_[a-z0-9_]+")
PARTS = re.compile(r"_(bucket|sum|count)$")


def names_in(text):
    return {PARTS.sub("", name) for name in NAME.findall(text)}


def queries(value):
    """Every "expr" anywhere in the dashboard."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "expr":
                yield inner
            else:
                yield from queries(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from queries(inner)


def rule(index, query):
    for variable, stands_for in (("$__rate_interval", "1m"), ("$__range", "3h")):
        query = query.replace(variable, stands_for)
    query = re.sub(r"\$\w+", ".*", query)
    return f"- {{record: 'dashboard:query:{index}', expr: {json.dumps(query)}}}\n"


def main():
    with open(CODE, encoding="utf-8") as code:
        known = names_in(code.read())
    with open(ALERTS, encoding="utf-8") as alerts:
        alerted = names_in(alerts.read())
    with open(DASHBOARD, encoding="utf-8") as file:
        found = list(queries(json.load(file)))
    shown = set().union(*map(names_in, found)) if found else set()
    problems = [f"{ALERTS}: there is no metric {name}" for name in sorted(alerted - known)]
    problems += [f"{DASHBOARD}: there is no metric {name}" for name in sorted(shown - known)]
    problems += [f"{DASHBOARD}: {name} is nowhere on it" for name in sorted(known - shown)]
    with open(sys.argv[1], "w", encoding="utf-8") as rules:
        rules.write("groups:\n- name: dashboard\n  rules:\n")
        rules.writelines("  " + rule(index, query) for index, query in enumerate(found))
    for problem in problems:
        print(problem)
    return 1 if problems or not known or not found else 0


if __name__ == "__main__":
    sys.exit(main())

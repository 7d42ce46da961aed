#!/usr/bin/env python3
"""Adds up the lines "passed failed skipped NAME" of a results file.

Prints what failed and, as the last line, "N passed, N failed" with
", N skipped" if any. Exit status 0 only if something passed and nothing failed.

usage: tools/verdict.py RESULTS
"""

import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [line.split(None, 3) for line in file if line.strip()]
    passed, failed, skipped = (sum(int(row[i]) for row in rows) for i in range(3))
    for row in rows:
        if int(row[1]):
            print(f"failed: {row[3].strip()}")
    tail = f", {skipped} skipped" if skipped else ""
    print(f"{passed} passed, {failed} failed{tail}")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())

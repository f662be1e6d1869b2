#!/usr/bin/env python3
"""Prints "passed failed skipped" for a JUnit report of ctest or pytest.

A ctest entry is one GoogleTest binary: its own summary lines count the tests in it.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree

SUMMARY = re.compile(r"^\[ *(PASSED|FAILED|SKIPPED) *\] (\d+) tests?", re.MULTILINE)


def count_case(case):
    """(passed, failed, skipped) of one <testcase>."""
    failed = case.find("failure") is not None or case.find("error") is not None
    failed = failed or case.get("status") == "fail"
    skipped = case.find("skipped") is not None
    counts = dict.fromkeys(("PASSED", "FAILED", "SKIPPED"), 0)
    for kind, number in SUMMARY.findall(case.findtext("system-out") or ""):
        counts[kind] = int(number)
    if not any(counts.values()):
        return (0, 1, 0) if failed else (0, 0, 1) if skipped else (1, 0, 0)
    if failed and counts["FAILED"] == 0:
        counts["FAILED"] = 1  # it crashed or hung after its summary
    return counts["PASSED"], counts["FAILED"], counts["SKIPPED"]


def main():
    totals = [0, 0, 0]
    for case in ElementTree.parse(sys.argv[1]).iter("testcase"):
        for slot, number in enumerate(count_case(case)):
            totals[slot] += number
    print(*totals)


if __name__ == "__main__":
    main()

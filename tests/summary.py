#!/usr/bin/python3
"""Adds up the JUnit files of a folder: one line a suite, and the closing line 'N passed, N failed'.

A program of CTest counts as its doctest cases where it printed them, else as one test. Exit code: 1 if anything failed, or
nothing ran.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

DOCTEST = re.compile(r"test cases:\s*(\d+)\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed")


def count(case):
    """(passed, failed, skipped) of one JUnit case."""
    broken = case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail"
    skipped = case.find("skipped")
    if skipped is not None:  # for CTest a program that is missing is "skipped" as well
        return (0, 1, 0) if case.get("status") and "SKIP" not in skipped.get("message", "") else (0, 0, 1)
    programs = DOCTEST.findall(case.findtext("system-out") or "")
    passed = sum(int(row[1]) for row in programs)
    failed = sum(int(row[2]) for row in programs)
    if broken:
        return passed, max(failed, 1), 0
    return max(passed, 1), 0, 0


def main(folder):
    total_passed = total_failed = total_skipped = 0
    for path in sorted(pathlib.Path(folder).glob("*.xml")):
        rows = [count(case) for case in ElementTree.parse(path).getroot().iter("testcase")]
        passed, failed, skipped = (sum(column) for column in zip(*rows)) if rows else (0, 0, 0)
        print(f"  {path.stem:<20} {passed:>6} passed {failed:>4} failed {skipped:>4} skipped")
        total_passed, total_failed, total_skipped = total_passed + passed, total_failed + failed, total_skipped + skipped
    print(f"{total_passed} passed, {total_failed} failed" + (f", {total_skipped} skipped" if total_skipped else ""))
    return 1 if total_failed or not total_passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

"""Reads the JUnit XML reports of test runners. Called by scripts/check.sh.

    tests.py count FILE        how many tests passed, and how many of them skipped themselves
    tests.py skipped FILE      the reasons of skipped tests, with counts
    tests.py slowest FILE…     the 20 slowest tests, with seconds

A Rust test that skips itself prints a line that starts with `skipped: `.
"""
import collections
import sys
import xml.etree.ElementTree as ElementTree

SLOWEST = 20


def cases(paths):
    return [case for path in paths for case in ElementTree.parse(path).iter("testcase")]


def reasons(case):
    """Why the test skipped itself; empty if it ran."""
    texts = [case.findtext(stream) or "" for stream in ("system-out", "system-err")]
    return [line for text in texts for line in text.splitlines() if line.startswith("skipped: ")]


def count(paths):
    ran = [case for case in cases(paths) if case.find("skipped") is None]
    if not ran:
        sys.exit("no test ran")
    print(f"{len(ran)} passed ({sum(bool(reasons(case)) for case in ran)} skipped themselves)")


def skipped(paths):
    counts = collections.Counter(reason for case in cases(paths) for reason in reasons(case))
    for reason, times in sorted(counts.items()):
        print(f"{times:4} {reason}")


def slowest(paths):
    print(f"the {SLOWEST} slowest tests:")
    for case in sorted(cases(paths), key=lambda case: -float(case.get("time")))[:SLOWEST]:
        print(f"{float(case.get('time')):7.1f} s  {case.get('classname')} {case.get('name')}")


{"count": count, "skipped": skipped, "slowest": slowest}[sys.argv[1]](sys.argv[2:])

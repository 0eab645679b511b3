#!/usr/bin/env python3
"""Unit tests and fuzzing corpora, as Meson has built them: outcomes of each test in each program.

usage: unit.py BUILD

Meson ends a program that hangs (`timeout` in tests/meson.build)."""

import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True

import outcomes  # noqa: E402
from outcomes import FAILED, PASSED, SKIPPED, TIMED, Outcome  # noqa: E402

TAP = re.compile(r"(not )?ok \d+ - (.*?)(?: # SKIP ?(.*))?$")
RESULTS = {"OK": PASSED, "SKIP": SKIPPED}


def outcomes_of(program):
    """Of one line of Meson's log."""
    name = program["name"].rpartition(" / ")[2]
    found, said = [], program.get("stdout", "") + program.get("stderr", "")
    for line in program.get("stdout", "").splitlines():
        tap = TAP.match(line)
        if tap:
            state = FAILED if tap[1] else SKIPPED if tap[3] is not None else PASSED
            text = said if state == FAILED else tap[3] or ""
            found.append(Outcome("%s.%s" % (name, tap[2]), state, text=text))
    state = RESULTS.get(program["result"], FAILED)
    if not found:
        return [Outcome(name, state, program["duration"], "" if state == PASSED else said)]
    if state == FAILED and not any(one.state == FAILED for one in found):
        found.append(Outcome(name, FAILED, text="%s, status %s\n%s" % (program["result"].lower(),
                                                                       program.get("returncode"), said)))
    return found + [Outcome(name, TIMED, program["duration"])]


def main():
    build = sys.argv[1]
    log = os.path.join(build, "meson-logs", "testlog.json")
    if os.path.exists(log):
        os.unlink(log)
    status = subprocess.run(["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs"], check=False).returncode
    results = []
    if os.path.exists(log):
        with open(log, encoding="utf-8") as lines:
            for line in lines:
                results += outcomes_of(json.loads(line))
    if not results or status and not any(one.state == FAILED for one in results):
        results.append(Outcome("meson test", FAILED, text="ended with status %d" % status))
    outcomes.save(results)
    return outcomes.report(results)


if __name__ == "__main__":
    sys.exit(main())

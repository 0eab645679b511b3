"""Outcomes of tests, and the report at the end of a run.

Every stage of `make test` makes a list of outcomes. A stage that runs as a process of its own leaves the
list in the file that $TACHO_OUTCOMES names, one JSON object a line, so that tools/test can add them up."""

import json
import os

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
# Not a test, but how long a program took whose tests are counted one by one.
TIMED = "timed"
# Each flaky test is a fault that somebody has to mend; more than this many in one run are a failure.
FLAKY_MAX = 3
SLOWEST = 10
REASON_LINES = 12


class Outcome:
    """What became of one test. @text is the reason of a failure or a skip."""

    def __init__(self, name, state, seconds=0.0, text="", flaky=False, stage=""):
        self.name, self.state, self.seconds = name, state, seconds
        self.text, self.flaky, self.stage = text, flaky, stage


def save(outcomes):
    """Appends to the file of $TACHO_OUTCOMES, if there is one."""
    path = os.environ.get("TACHO_OUTCOMES")
    if path:
        with open(path, "a", encoding="utf-8") as out:
            for one in outcomes:
                out.write(json.dumps(vars(one)) + "\n")


def load(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as lines:
        return [Outcome(**json.loads(line)) for line in lines]


def closing_line(outcomes):
    """The last line of every run of tests."""
    count = [sum(one.state == state for one in outcomes) for state in (PASSED, FAILED, SKIPPED)]
    return "%d passed, %d failed, %d skipped" % tuple(count)


def flaky_failure(outcomes):
    """More flaky tests than a run may have are one more failure; a list of it, or an empty one."""
    count = sum(one.flaky for one in outcomes)
    if count <= FLAKY_MAX:
        return []
    return [Outcome("flaky tests", FAILED, text="%d tests passed only when they were repeated; more than %d in "
                    "one run are a failure" % (count, FLAKY_MAX))]


def report(outcomes):
    """Prints all failures, the reason of every skip, the slowest tests, the flaky ones, and the closing line;
    returns the exit status."""
    def full(one):
        return "%s %s" % (one.stage, one.name) if one.stage else one.name
    failed = [one for one in outcomes if one.state == FAILED]
    if failed:
        print("\nfailed:")
    for one in failed:
        print("  " + full(one))
        for line in one.text.rstrip().splitlines()[-REASON_LINES:]:
            print("      " + line)
    skipped = [one for one in outcomes if one.state == SKIPPED]
    if skipped:
        print("\nskipped:")
    for one in skipped:
        print("  %s: %s" % (full(one), " ".join(one.text.split()) or "the test gave no reason"))
    if len(outcomes) > SLOWEST:
        print("\nthe ten slowest:")
        for one in sorted(outcomes, key=lambda one: -one.seconds)[:SLOWEST]:
            print("  %7.1f s  %s" % (one.seconds, full(one)))
        print()
    for one in outcomes:
        if one.flaky:
            print("flaky: " + one.name)
    print(closing_line(outcomes), flush=True)
    return 1 if failed else 0

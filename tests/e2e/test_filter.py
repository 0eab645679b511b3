#!/usr/bin/env python3
"""--filter: what is recorded, and what wrong filters are answered, by record, by the server and by run."""

import unittest

from collector import ENDED, Collector
from helpers import Case, needs_root, needs_tracefs
from openapi import DescribedCase
from perfdata import SAMPLE, File

SIDE_BY_SIDE = True

EVENT = "syscalls:sys_enter_getpriority"
# Nothing else in this program asks for priorities.
CALLS = {0: 30, 1: 20, 2: 10}
PROGRAM = "import os\nfor which, times in %r.items():\n for i in range(times): os.getpriority(which, 0)" % CALLS
COMMAND = ["/usr/bin/python3", "-c", PROGRAM]

# Filters of EVENT, and how many of the calls meet them.
SELECTED = {"which == 1": CALLS[1],
            "which != 1 && who == 0": CALLS[0] + CALLS[2],
            "!(which == 0) && (which & 3)": CALLS[1] + CALLS[2],
            'COMM ~ "pyth*" || which == 0': sum(CALLS.values()),
            'comm == "nobody" || which > 2': 0}

# Wrong filters, the character that is marked, and a part of the sentence.
WRONG = {"whch == 1": (0, "did you mean 'which'"),
         "which = 1": (6, "write =="),
         "which == 1 && (who == 0": (14, "this '(' is not closed"),
         'which == "one"': (9, "it cannot be compared with a text"),
         "comm > 3": (5, "only by == != ~")}


def needs_tracepoints():
    needs_tracefs()
    needs_root("for tracepoints")


class FilterCase(Case):
    def assertMarked(self, text, wrong, column, says):
        """The sentence, and below it the filter with a mark."""
        *_, sentence, shown, mark = text.rstrip("\n").splitlines()
        self.assertIn(says, sentence)
        self.assertEqual((shown, mark), ("  " + wrong, "  " + " " * column + "^"))


class Record(FilterCase):
    def record(self, *args, status=0):
        result = self.tacho("record", "-o", self.path("x.data"), *args, "--", *COMMAND)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stderr

    def test_only_matching_events_are_recorded(self):
        needs_tracepoints()
        for text, count in SELECTED.items():
            self.record("-e", EVENT, "--filter", text)
            self.assertEqual(File(self.path("x.data")).count(SAMPLE), count, text)

    def test_a_filter_is_for_the_events_before_it(self):
        needs_tracepoints()
        self.record("-e", EVENT, "-e", "syscalls:sys_exit_getpriority", "--filter", "ret < 0")
        self.assertEqual(File(self.path("x.data")).count(SAMPLE), sum(CALLS.values()))

    def test_all_filters_of_an_event_must_match(self):
        needs_tracepoints()
        for filters, count in ((("which == 0", "which == 1"), 0), (("which == 1", "which == 0"), 0),
                               (("which == 1", "who >= 0", "which > 0"), CALLS[1])):
            self.record("-e", EVENT, *(word for text in filters for word in ("--filter", text)))
            self.assertEqual(File(self.path("x.data")).count(SAMPLE), count, filters)

    def test_errors_point_at_the_character(self):
        needs_tracepoints()
        for text, (column, says) in WRONG.items():
            stderr = self.record("-e", EVENT, "--filter", text, status=125)
            self.assertOneSentence(stderr)
            self.assertMarked(stderr, text, column, says)
            self.assertNoFile()
        self.assertIn("is empty", self.record("-e", EVENT, "--filter", "", status=125))

    def assertNoFile(self):
        with self.assertRaises(FileNotFoundError):
            open(self.path("x.data"), "rb").close()

    def test_filters_are_for_tracepoints(self):
        stderr = self.record("-e", "page-faults", "--filter", "which == 1", status=125)
        self.assertOneSentence(stderr)
        self.assertIn("filters are for tracepoints: 'page-faults' is not one", stderr)
        self.assertNoFile()

    def test_every_event_of_a_pattern_must_have_the_field(self):
        needs_tracepoints()
        stderr = self.record("-e", "syscalls:sys_*_getpriority", "--filter", "which == 1", status=125)
        self.assertIn("syscalls:sys_exit_getpriority has no field 'which'", stderr)


class Collected(FilterCase):
    """The collector checks filters, too: it may read what the server may not."""

    def test_a_wrong_filter_ends_the_run_with_its_sentence(self):
        needs_tracepoints()
        plan = {"workload": COMMAND, "tool": "record",
                "sample": {"events": [EVENT], "period": 1, "filter": "whch == 1"}}
        error = Collector(plan).finish().json(ENDED)["error"]
        self.assertMarked(error, "whch == 1", 0, "did you mean 'which'")


class Runs(FilterCase, DescribedCase):
    def plan(self, text, events=(EVENT,), **sample):
        return {"workload": COMMAND, "tool": "record",
                "sample": {"events": list(events), "period": 1, "filter": text, **sample}}

    def refused(self, text, **more):
        session = self.server.session()
        return self.server.expect(400, "POST", "session/" + session, self.plan(text, **more)).message()

    def test_only_matching_events_are_sampled(self):
        needs_tracepoints()
        session = self.server.session()
        for text, count in SELECTED.items():
            run = self.server.post("session/" + session, self.plan(text))
            run = self.server.wait_run(run["uuid"])
            self.assertEqual((run["state"], run["samples"]), ("done", count), (text, run["error"]))
            self.assertEqual(run["sample"]["filter"], text)
        again = self.server.expect(202, "POST", "benchmark/%s/rerun" % run["uuid"]).json()
        self.assertEqual(self.server.wait_run(again["uuid"])["sample"]["filter"], text)

    def test_wrong_filters_are_not_queued(self):
        needs_tracepoints()
        for text, (column, says) in WRONG.items():
            self.assertMarked(self.refused(text), text, column, says)
        self.assertEqual(self.server.get("sessions")["sessions"][0]["runs"], 0)

    def test_filters_are_for_tracepoints(self):
        self.assertIn("'page-faults' is not one", self.refused("which == 1", events=["page-faults"]))
        self.assertIn("name them in 'sample.events'", self.refused("which == 1", events=[]))

    def test_every_event_must_be_a_tracepoint(self):
        needs_tracepoints()
        self.assertIn("'page-faults' is not one", self.refused("which == 1", events=[EVENT, "page-faults"]))

    def client(self, *args):
        return self.tacho("run", "--tool", "record", "-s", EVENT, "-c", "1", *args, "--", *COMMAND,
                          env={"TACHO_SERVER": self.server.url, "TACHO_TOKEN": self.server.token})

    def test_the_command_line_has_it(self):
        needs_tracepoints()
        result = self.client("--filter", "which == 1")
        self.assertEqual(result.returncode, 0, result.stderr)
        run = self.server.get("sessions")["sessions"][0]["uuid"]
        run = self.server.get("session/" + run)["runs"][0]["uuid"]
        self.assertEqual(self.server.benchmark(run)["samples"], CALLS[1])
        result = self.client("--filter", "whch == 1")
        self.assertEqual(result.returncode, 125, result.stderr)
        self.assertMarked(result.stderr, "whch == 1", 0, "did you mean 'which'")


if __name__ == "__main__":
    unittest.main()

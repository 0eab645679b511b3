"""`tacho demo`: a program whose profile is known."""

import os
import re
import signal
import subprocess

from helpers import LIMIT_S, TACHO, Case
from openapi import DescribedCase
from probes import user_probe

PHASES = ("parse", "sort", "compress", "multiply", "fill", "share")
# What is on the stack of each, from the outside in.
STACKS = ("parse_text;parse_line;find_word_slowly", "parse_text;parse_line;find_word",
          "sort_numbers;quick_sort;quick_sort;partition", "compress_text;find_match;length_of_match",
          "multiply_matrices;multiply_by_columns", "multiply_matrices;multiply_by_rows",
          "fill_new_memory;touch_pages", "worker;take_turns;work_alone")


def plain(text):
    return re.sub(r"\x1b\[[\d;]*m", "", text)


class Demo(Case):
    def test_says_what_it_does(self):
        result = self.tacho("demo", "--seconds", "4")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("\x1b[1;36mparse", result.stdout)
        lines = plain(result.stdout).splitlines()
        cycle = [re.sub(r" +[\d.]+ s ", " ", line) for line in lines]
        self.assertEqual([line.split()[0] for line in lines], 2 * ["cycle", *PHASES])
        # The same work, every time.
        self.assertEqual(cycle[1:7], cycle[8:14])
        self.assertIn("find_word_slowly", result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1)

    def test_does_twice_as_much(self):
        event = user_probe(self, os.path.realpath(TACHO), "find_word_slowly")
        counts = []
        for seconds in ("3", "6"):
            # Not by a shell: Linux forgets a probe in a child when a thread of that ends, now and then.
            result = self.stat("-x,", "-o", self.path("out"), "-e", event, TACHO, "demo", "--seconds", seconds)
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(self.path("out")) as text:
                counts += [int(line.split(",")[0]) for line in text if event in line]
        first, both = counts
        self.assertGreater(first, 100_000)
        self.assertAlmostEqual(both, 3 * first, delta=16)  # which words are found so is counted by 16

    def test_without_colours(self):
        result = self.tacho("demo", "--seconds", "1", env={"NO_COLOR": "1"})
        self.assertNotIn("\x1b", result.stdout + result.stderr)
        self.assertEqual(result.stderr, "")

    def test_ends_when_told(self):
        child = subprocess.Popen([TACHO, "demo"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        with child:
            child.stdout.readline()
            child.send_signal(signal.SIGTERM)
            self.assertEqual(child.wait(LIMIT_S), -signal.SIGTERM)

    def test_wrong_usage(self):
        for words in (["x"], ["--seconds", "x"], ["--seconds"]):
            result = self.tacho("demo", *words)
            self.assertEqual(result.returncode, 2, words)
            self.assertOneSentence(result.stderr)


class OnTheServer(DescribedCase):
    def test_recorded(self):
        demo = self.server.get("me")["server"]["demo"]
        self.assertEqual(demo, [os.path.realpath(TACHO), "demo"])
        run = self.server.run(self.server.session(), demo + ["--seconds", "6"], tool="both",
                              events=["task-clock", "page-faults", "context-switches"], interval=0.1,
                              sample={"events": ["cpu-clock"], "frequency": 999})
        ended = self.server.wait_run(run["uuid"], 120)
        self.assertEqual((ended["state"], ended["exit_status"]), ("done", 0), ended)
        stacks = {}
        for line in self.server.get_bytes("benchmark/%s.folded" % run["uuid"]).decode().splitlines():
            stack, _, weight = line.rpartition(" ")
            stacks[stack] = stacks.get(stack, 0) + int(weight)
        for wanted in STACKS:
            self.assertTrue(any(wanted in stack for stack in stacks), wanted)
        slow = [sum(v for k, v in stacks.items() if name in k) / sum(stacks.values())
                for name in ("find_word_slowly", "find_word;")]
        self.assertGreater(slow[0], 0.08)
        self.assertGreater(slow[0], 5 * slow[1])
        self.second_cycle_is_slower(run["uuid"])

    def second_cycle_is_slower(self, run):
        """The function that is worth finding does twice as much in the second cycle."""
        log = plain(self.server.get_bytes("benchmark/%s.log" % run).decode())
        for phase in PHASES:
            self.assertEqual(len(re.findall("^%s " % phase, log, re.M)), 2, log)
        points = self.server.get("benchmark/%s/points" % run)
        slow = {i for i, name in enumerate(points["names"]) if name[0] == "find_word_slowly"}
        times = [t for t, function in zip(points["t"], points["function"]) if function in slow]
        # Between its two times lies everything else of the first cycle.
        gap, cut = max((b - a, i) for i, (a, b) in enumerate(zip(times, times[1:]), 1))
        self.assertGreater(gap, 10 ** 9)
        # How much longer twice the work takes is up to the machine's other guests, at a tenth of a
        # second each. That it is twice is what test_does_twice_as_much counts.
        self.assertGreater(len(times) - cut, 1.3 * cut)

#!/usr/bin/env python3
"""Code that is made at run time: named by maps, and by jitdump files at the time of each sample."""

import os
import subprocess
import time
import unittest

from helpers import AS_NOBODY, FOR_EVER_MS, needs_other_user, needs_program
from jit import JitCase, jit_program

SIDE_BY_SIDE = True


class Jitdump(JitCase):
    def test_code_that_took_the_place_of_other_code(self):
        self.record("-g", jit_program(), "dump", self.home, "first_code", 100, "second_code", 300)
        counts = self.leaves()
        first, second = counts.get("first_code", 0), counts.get("second_code", 0)
        self.assertGreater(first + second, 0.9 * sum(counts.values()), counts)
        self.assertAlmostEqual(first / (first + second), 0.25, delta=0.05)

    def test_callers_of_made_code(self):
        self.record("-g", jit_program(), "dump", self.home, "made", 100)
        made = [s for s in self.stacks() if s.frames and s.names()[0] == "made"]
        self.assertTrue(made)
        for stack in made[:50]:
            self.assertIn("jit-", stack.frames[0][1])

    def test_a_damaged_file_names_what_was_before(self):
        result = self.record(jit_program(), "dump", self.home, "first_code", 50, "second_code", 100)
        path = self.path("jit-%d.dump" % int(result.stdout))
        os.truncate(path, os.path.getsize(path) - 1)
        counts = self.leaves()
        self.assertIn("first_code", counts)
        self.assertNotIn("second_code", counts)


class Map(JitCase):
    def start_jit(self, *args, before=()):
        child = self.start([*before, jit_program(), *args], stdout=subprocess.PIPE)
        pid = int(child.stdout.readline())
        self.forget_map(pid)
        return child, pid

    def record_made(self, pid):
        """What tacho says of a program that goes on, once there are samples of it."""
        return self.record_until(lambda: len(self.samples_so_far()) > 10, "-p", pid)

    def test_names(self):
        result = self.record(jit_program(), "map", ".", "py::fib:/srv/fib.py", 100)
        self.forget_map(int(result.stdout))
        counts = self.leaves()
        self.assertGreater(counts.get("py::fib:/srv/fib.py", 0), 0.8 * sum(counts.values()), counts)

    def test_the_copy_outlives_the_map(self):
        result = self.record(jit_program(), "map", ".", "made", 100)
        pid = int(result.stdout)
        os.unlink("/tmp/perf-%d.map" % pid)
        self.assertIn("made", self.leaves())
        # The program is kept as well if a sample was in its own code.
        maps = [os.path.basename(p) for p in self.kept() if p.endswith(".map")]
        self.assertEqual(maps, ["perf-%d.map" % pid])

    def test_no_copy_if_not_wanted(self):
        result = self.record("-N", jit_program(), "map", ".", "made", 50)
        pid = int(result.stdout)
        self.assertEqual(self.kept(), [])
        os.unlink("/tmp/perf-%d.map" % pid)
        self.assertNotIn("made", self.leaves())

    def test_a_map_that_is_older_than_the_process(self):
        _, pid = self.start_jit("none", ".", "made", FOR_EVER_MS)
        path = "/tmp/perf-%d.map" % pid
        with open(path, "w") as out:
            out.write("0 7fffffffffff somebody_elses\n")
        os.utime(path, (time.time() - 3600,) * 2)
        self.assertIn("older than the process", self.record_made(pid))
        self.assertNotIn("somebody_elses", self.leaves())

    def test_a_map_of_somebody_else(self):
        needs_other_user()
        _, pid = self.start_jit("none", ".", "made", FOR_EVER_MS)
        path = "/tmp/perf-%d.map" % pid
        with open(path, "w") as out:
            out.write("0 7fffffffffff somebody_elses\n")
        os.chown(path, 1, 1)
        self.assertIn("belongs to user 1", self.record_made(pid))
        self.assertNotIn("somebody_elses", self.leaves())

    def test_a_map_of_the_process_of_another_user(self):
        needs_other_user()
        _, pid = self.start_jit("map", ".", "made", FOR_EVER_MS, before=AS_NOBODY)
        self.record_made(pid)
        self.assertIn("made", self.leaves())


class Runtimes(JitCase):
    def test_node(self):
        node = needs_program("node")
        program = self.write("spin.js", """
            function spinning(n) { let s = 0; for (let i = 0; i < n; i++) s = (s + i * i) % 7; return s; }
            console.log(process.pid);
            const end = process.cpuUsage().user + 500000;
            while (process.cpuUsage().user < end) spinning(100000);
            """)
        # It leaves a log in its directory.
        result = self.record("-g", node, "--perf-basic-prof", program, cwd=self.home)
        self.forget_map(int(result.stdout))
        counts = self.leaves()
        named = sum(n for name, n in counts.items() if "spinning" in name)
        self.assertGreater(named, 0.4 * sum(counts.values()), counts)

    def test_python(self):
        python = needs_program("python3")
        if subprocess.run([python, "-X", "perf", "-c", "import sys; sys.activate_stack_trampoline"],
                          stderr=subprocess.DEVNULL).returncode:
            raise unittest.SkipTest("-X perf came with Python 3.12")
        program = self.write("spin.py", "import os, time\n"
                             "def spinning():\n    sum(i * i for i in range(10000))\n"
                             "print(os.getpid())\n"
                             "while time.process_time() < 0.5:\n    spinning()\n")
        result = self.record("-g", python, "-X", "perf", program)
        self.forget_map(int(result.stdout))
        with_name = [s for s in self.stacks() if any("py::spinning" in n for n in s.names())]
        self.assertGreater(len(with_name), 100)


if __name__ == "__main__":
    unittest.main()

"""tools/test and .ci/run: everything is run whatever fails, and the end says all of it."""

import importlib.machinery
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stdout
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))

SIDE_BY_SIDE = True

# What a stage does: tells outcomes as the runner does, and ends with a status.
STAGE = """
import json, os, sys
with open(os.environ["TACHO_OUTCOMES"], "a") as out:
    for name, state, flaky, *text in json.loads(sys.argv[1]):
        out.write(json.dumps({"name": name, "state": state, "flaky": flaky, "seconds": len(name),
                              "text": "".join(text)}) + "\\n")
sys.exit(int(sys.argv[2]))
"""


def load_tool(path):
    loader = importlib.machinery.SourceFileLoader("tool", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tool", loader))
    loader.exec_module(module)
    return module


class Test(unittest.TestCase):
    def run_stages(self, **stages):
        """{"unit": ([outcomes], status)} instead of the real ones; the status, and what is printed."""
        tool = load_tool(os.path.join(TOP, "tools", "test"))

        def command(rows, status):
            return lambda: [sys.executable, "-c", STAGE, json.dumps(rows), str(status)]
        fakes = {name: (command(*what), "stage " + name) for name, what in stages.items()}
        with tempfile.TemporaryDirectory() as build, mock.patch.object(tool, "BUILD", build), \
                mock.patch.object(tool, "STAGES", fakes), mock.patch.object(sys, "argv", ["test"]), \
                redirect_stdout(io.StringIO()) as out:
            here = os.getcwd()
            try:
                status = tool.main()
            finally:
                os.chdir(here)
        return status, out.getvalue()

    def test_all_stages_and_all_failures(self):
        status, text = self.run_stages(
            unit=([("first", "failed", False), ("second", "passed", False)], 1),
            page=([("third", "passed", False)], 0),
            e2e=([("fourth", "failed", False), ("fifth", "skipped", False)], 1))
        self.assertEqual(status, 1)
        end = text[text.index("\nfailed:"):]
        self.assertIn("unit first", end)
        self.assertIn("e2e fourth", end)
        for name in ("unit", "page", "e2e"):
            self.assertRegex(text, r"stage %s +\d+ min \d\d s" % name)
        self.assertEqual(text.splitlines()[-1], "2 passed, 2 failed, 1 skipped")

    def test_reasons_of_skips_of_all_stages(self):
        status, text = self.run_stages(unit=([("a", "skipped", False, "no libfoo here")], 0),
                                       e2e=([("b", "passed", False), ("c", "skipped", False, "needs\nroot")], 0))
        self.assertEqual(status, 0)
        self.assertEqual(text.splitlines()[-4:], ["skipped:", "  unit a: no libfoo here", "  e2e c: needs root",
                                                  "1 passed, 0 failed, 2 skipped"])

    def test_flaky_is_green(self):
        status, text = self.run_stages(e2e=([("a", "passed", True)], 0), browser=([("b", "passed", True)], 0))
        self.assertEqual(status, 0)
        self.assertEqual(text.splitlines()[-3:], ["flaky: a", "flaky: b", "2 passed, 0 failed, 0 skipped"])

    def test_four_flaky_in_all_stages_together(self):
        status, text = self.run_stages(e2e=([("a", "passed", True), ("b", "passed", True)], 0),
                                       browser=([("c", "passed", True), ("d", "passed", True)], 0))
        self.assertEqual(status, 1)
        self.assertEqual(text.splitlines()[-1], "4 passed, 1 failed, 0 skipped")

    def test_ten_slowest_of_all_stages(self):
        """The seconds are the lengths of the names here."""
        rows = [("x" * n, "passed", False) for n in range(1, 9)]
        status, text = self.run_stages(unit=(rows, 0), e2e=(rows, 0))
        self.assertEqual(status, 0)
        slowest = text[text.index("the ten slowest:"):].splitlines()[1:11]
        self.assertEqual([len(line.split()[-1]) for line in slowest], [8, 8, 7, 7, 6, 6, 5, 5, 4, 4])

    def test_stage_that_dies(self):
        status, text = self.run_stages(unit=([("a", "passed", False)], 3), page=([("b", "passed", False)], 0))
        self.assertEqual(status, 1)
        self.assertIn("ended with status 3", text)
        self.assertEqual(text.splitlines()[-1], "2 passed, 1 failed, 0 skipped")

    def test_build_that_fails(self):
        """Tests of an older build would say nothing."""
        status, text = self.run_stages(build=([], 1), unit=([("a", "passed", False)], 0),
                                       page=([("b", "passed", False)], 0))
        self.assertEqual(status, 1)
        self.assertIn("not run, because the build failed", text)
        self.assertEqual(text.splitlines()[-1], "1 passed, 2 failed, 0 skipped")


MAKE = """#!/bin/sh
# A real make around the given status: its own status and messages are what .ci/run has to read.
echo "$1" >>"$0.asked"
. "$0.$1"
exec /usr/bin/make --no-print-directory -f "$0.file" STATUS="$status" "$1"
"""
MAKEFILE = """
test lint asan test-pmu:
	@sh -c 'exit $(STATUS)'
"""


class Ci(unittest.TestCase):
    def ci(self, **commands):
        with tempfile.TemporaryDirectory() as folder:
            make = os.path.join(folder, "make")
            files = {"": MAKE, ".file": MAKEFILE}
            for name, (status, text) in commands.items():
                files["." + name.replace("_", "-")] = "status=%d\ncat <<'END'\n%s\nEND\n" % (status, text)
            for name, text in files.items():
                with open(make + name, "w", encoding="utf-8") as out:
                    out.write(text)
            os.chmod(make, 0o755)
            env = dict(os.environ, PATH=folder + ":" + os.environ["PATH"])
            for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
                env.pop(name, None)
            done = subprocess.run([os.path.join(TOP, ".ci", "run")], env=env, text=True, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            with open(make + ".asked", encoding="utf-8") as asked:
                self.assertEqual(asked.read().split(), ["test", "lint", "asan", "test-pmu"])
        return done.returncode, done.stdout

    def test_green(self):
        status, text = self.ci(test=(0, "flaky: test_a.B.c\n10 passed, 0 failed, 2 skipped"), lint=(0, ""),
                               asan=(0, "5 passed, 0 failed, 0 skipped"), test_pmu=(0, "3 passed, 0 failed"))
        self.assertEqual(status, 0, text)
        self.assertEqual(text.splitlines()[-2:], ["flaky: test_a.B.c", "19 passed, 0 failed, 2 skipped"])

    def test_all_run_and_add_up(self):
        status, text = self.ci(test=(1, "10 passed, 2 failed, 0 skipped"), lint=(1, "bad style"),
                               asan=(0, "5 passed, 0 failed, 0 skipped"), test_pmu=(1, "2 passed, 1 failed"))
        self.assertEqual(status, 1, text)
        self.assertRegex(text, r"make lint +\d+ min \d\d s  FAILED")
        self.assertEqual(text.splitlines()[-1], "17 passed, 4 failed, 0 skipped")

    def test_skip_can_be_seen(self):
        status, text = self.ci(test=(0, "10 passed, 0 failed, 0 skipped"), lint=(0, ""),
                               asan=(0, "5 passed, 0 failed, 0 skipped"), test_pmu=(77, "SKIP: no emulator"))
        self.assertEqual(status, 0, text)
        self.assertRegex(text, r"make test-pmu +\d+ min \d\d s  SKIPPED: no emulator")
        self.assertEqual(text.splitlines()[-1], "16 passed, 0 failed, 1 skipped")

    def test_fails_without_a_word(self):
        """A command that ends in the middle is a failure, whatever it has counted."""
        status, text = self.ci(test=(9, "10 passed, 0 failed, 0 skipped"), lint=(0, ""), asan=(0, ""), test_pmu=(0, ""))
        self.assertEqual(status, 1, text)
        self.assertEqual(text.splitlines()[-1], "13 passed, 1 failed, 0 skipped")

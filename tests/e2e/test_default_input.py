"""Which recording a command reads when none is named: a pipe on standard input, else ./perf.data."""

import os
import subprocess
import unittest

from helpers import TACHO, Case, environment, load

# Of each command its words, so that its output has the names of the recorded programs.
COMMANDS = (("report", "-s", "comm", "--no-children"), ("flame", "--format", "folded"), ("script",), ("info",),
            ("convert", "--to", "folded", "-o", "-"), ("convert", "--to", "json", "-o", "-"),
            ("annotate", "--stdio", "--percent-limit", "0"))


class DefaultInput(Case):
    def setUp(self):
        super().setUp()
        # The file is of a program "filed", what comes by the pipe of a program "piped".
        for name in ("filed", "piped"):
            os.symlink(load("busy")[0], self.path(name))
        self.record("filed", "perf.data")
        self.piped = self.record("piped", "-")

    def record(self, name, output):
        result = self.tacho("record", "-q", "-e", "cpu-clock", "-F", "1000", "-o", output, "--",
                            self.path(name), "busy", "40", cwd=self.home, text=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def shown(self, *args, **more):
        result = self.tacho(*args, cwd=self.home, text=False, **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.decode("utf-8", "replace")

    def test_a_pipe_is_read_beside_perf_data(self):
        for args in COMMANDS:
            with self.subTest(command=args):
                text = self.shown(*args, input=self.piped)
                if args[0] != "annotate":
                    self.assertIn("piped", text)
                self.assertNotIn("filed", text)

    def test_without_a_pipe_perf_data_is_read(self):
        for args in COMMANDS:
            with self.subTest(command=args):
                text = self.shown(*args, stdin=subprocess.DEVNULL)
                if args[0] != "annotate":
                    self.assertIn("filed", text)
                self.assertNotIn("piped", text)

    def test_annotate_reads_the_pipe(self):
        """annotate names no program: the pipe's samples are told by their number."""
        alone = self.write("alone/piped.data", self.piped)
        self.assertEqual(self.shown("annotate", "--json", input=self.piped),
                         self.shown("annotate", "--json", "-i", alone))

    def test_a_function_that_is_not_in_the_pipe(self):
        """Looking for near names must not wait for a second recording."""
        result = self.tacho("annotate", "bussy", cwd=self.home, input=self.piped, text=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"bussy", result.stderr)

    def test_dash_i_wins(self):
        self.assertIn("filed", self.shown("report", "-s", "comm", "-i", "perf.data", input=self.piped))

    def test_an_empty_pipe_says_what_to_do(self):
        for args in COMMANDS:
            with self.subTest(command=args):
                result = self.tacho(*args, cwd=self.home, input="")
                self.assertEqual(result.returncode, 1)
                self.assertEqual(result.stdout, "")
                self.assertOneSentence(result.stderr)
                self.assertRegex(result.stderr, "standard input is a pipe, and nothing came .* -i perf.data")

    def test_a_silent_pipe_is_told(self):
        """A pipe that nobody writes to is waited for, as perf does, but not without a word."""
        reader, writer = os.pipe()
        child = self.start([TACHO, "info"], cwd=self.home, stdin=reader, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, env=environment(self.home))
        os.close(reader)
        self.assertRegex(child.stderr.readline(), "waiting for a recording on standard input.* -i perf.data")
        os.close(writer)
        self.assertEqual(child.wait(), 1)


if __name__ == "__main__":
    unittest.main()

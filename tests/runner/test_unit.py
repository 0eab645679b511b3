"""Unit tests in C: why a test was skipped gets from the program that prints it to the end of the run."""

import io
import os
import subprocess
import sys
import unittest
from contextlib import redirect_stdout

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import outcomes  # noqa: E402
from unit import outcomes_of  # noqa: E402

SIDE_BY_SIDE = True

# As cmocka prints it: the second skip comes without a reason.
CMOCKA = """printf '%s\\n' 1..3 '# SKIP no libfoo here' 'not ok 1 # SKIP needs_foo' 'ok 2 - plain' 'not ok 3 # SKIP silent'"""


class Skips(unittest.TestCase):
    def results(self):
        done = subprocess.run([os.path.join(HERE, "..", "unit", "tap"), "sh", "-c", CMOCKA], text=True,
                              capture_output=True, check=True)
        return outcomes_of({"name": "unit / x", "result": "OK", "duration": 1, "stdout": done.stdout})

    def test_reason_of_each_skip(self):
        found = [(one.name, one.state, one.text) for one in self.results() if one.state != outcomes.TIMED]
        self.assertEqual(found, [("x.needs_foo", "skipped", "no libfoo here"), ("x.plain", "passed", ""),
                                 ("x.silent", "skipped", "")])

    def test_reasons_are_told_at_the_end(self):
        with redirect_stdout(io.StringIO()) as out:
            self.assertEqual(outcomes.report(self.results()), 0)
        self.assertEqual(out.getvalue().splitlines()[1:],
                         ["skipped:", "  x.needs_foo: no libfoo here", "  x.silent: the test gave no reason",
                          "1 passed, 0 failed, 2 skipped"])

    def test_program_that_skips_all(self):
        """Without TAP, what it printed is the reason."""
        found = outcomes_of({"name": "unit / x", "result": "SKIP", "duration": 1, "stdout": "no node(1) here\n"})
        self.assertEqual([(one.state, one.text.strip()) for one in found], [("skipped", "no node(1) here")])


if __name__ == "__main__":
    unittest.main()

"""The rules of the runner, on small files of tests that fail once, fail always, hang, or end their process."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import outcomes  # noqa: E402
from suite import Suite, files_of  # noqa: E402

# These wait more than they work.
SIDE_BY_SIDE = True

HEAD = """
import os, signal, subprocess, sys, time, unittest
def first(name):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    new = not os.path.exists(path)
    open(path, "a").close()
    return new
"""
HANGS = HEAD + """
class Hangs(unittest.TestCase):
    def test_a(self):
        pass
    def test_b_hangs(self):
        child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        with open(os.path.join(os.path.dirname(__file__), "pid"), "w") as out:
            out.write(str(child.pid))
        self.waits_for_nothing()
    def waits_for_nothing(self):
        time.sleep(1000)
    def test_c(self):
        pass
"""


def alive(pid):
    try:
        with open("/proc/%s/stat" % pid, encoding="utf-8") as text:
            return text.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tacho-runner-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.lines = []

    def file(self, name, text, folder=""):
        os.makedirs(os.path.join(self.folder, folder), exist_ok=True)
        path = os.path.join(self.folder, folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path


class Rules(Files):
    def run_files(self, *paths, jobs=1, hang_s=60):
        suite = Suite([], jobs, hang_s, self.lines.append)
        return suite.run(files_of(paths, [self.folder]))

    @staticmethod
    def states(results):
        return {one.name.split(".", 1)[1]: one.state for one in results}

    def test_passed_skipped_and_failed(self):
        results = self.run_files(self.file("test_some.py", HEAD + """
class Some(unittest.TestCase):
    def test_good(self):
        print("# seen")
    def test_skipped(self):
        self.skipTest("no reason")
    def test_bad(self):
        self.assertEqual(1, 2)
    def test_parts(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertNotEqual(n, 1)
"""))
        self.assertEqual(self.states(results), {"Some.test_good": "passed", "Some.test_skipped": "skipped",
                                                "Some.test_bad": "failed", "Some.test_parts": "failed"})
        self.assertIn("1 != 2", next(one for one in results if "bad" in one.name).text)
        self.assertIn("(n=1)", next(one for one in results if "parts" in one.name).text)
        self.assertIn("# seen", self.lines)
        self.assertFalse(any(one.flaky for one in results))
        self.assertEqual(outcomes.closing_line(results), "1 passed, 2 failed, 1 skipped")

    def test_fails_once(self):
        """It is repeated alone, passes, and is called flaky."""
        text = HEAD + """
class Once(unittest.TestCase):
    def test_once(self):
        self.assertFalse(first("once"))
    def test_other(self):
        self.assertTrue(first("other"), "this one is not repeated")
"""
        results = self.run_files(self.file("test_once.py", text))
        self.assertEqual(self.states(results), {"Once.test_once": "passed", "Once.test_other": "passed"})
        self.assertEqual([one.name for one in results if one.flaky], ["test_once.Once.test_once"])

    def test_fails_once_in_faults(self):
        """What is seen now and then by a test of tests/fault is a fault."""
        text = HEAD + """
class Once(unittest.TestCase):
    def test_once(self):
        self.assertFalse(first("once"))
"""
        results = self.run_files(self.file("test_once.py", text, "fault"))
        self.assertEqual(self.states(results), {"Once.test_once": "failed"})

    def test_class_fails_once(self):
        text = HEAD + """
class Once(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        assert not first("class")
    def test_it(self):
        pass
"""
        results = self.run_files(self.file("test_class.py", text))
        self.assertEqual([(one.name, one.state, one.flaky) for one in results],
                         [("setUpClass (test_class.Once)", "passed", True)])

    def test_fails_always(self):
        results = self.run_files(self.file("test_always.py", HEAD + """
class Always(unittest.TestCase):
    def test_always(self):
        first("runs") or first("runs2")
        self.fail("as ever")
"""))
        self.assertEqual(self.states(results), {"Always.test_always": "failed"})
        self.assertTrue(os.path.exists(os.path.join(self.folder, "runs2")), "it was not repeated")

    def test_many_fail(self):
        """Then it is no coincidence, and nothing is repeated."""
        results = self.run_files(self.file("test_many.py", HEAD + """
class Many(unittest.TestCase):
    pass
for i in range(25):
    setattr(Many, "test_%d" % i, lambda self, i=i: self.assertFalse(first("many%d" % i)))
"""))
        self.assertEqual(outcomes.closing_line(results), "0 passed, 25 failed, 0 skipped")

    def test_hangs(self):
        """It fails, where it hung is said, what it started is ended, and the others run."""
        results = self.run_files(self.file("test_hangs.py", HANGS, "fault"), hang_s=30)
        self.assertEqual(self.states(results), {"Hangs.test_a": "passed", "Hangs.test_b_hangs": "failed",
                                                "Hangs.test_c": "passed"})
        text = next(one.text for one in results if one.state == "failed")
        self.assertIn("hang limit", text)
        self.assertIn("waits_for_nothing", text)
        with open(os.path.join(self.folder, "fault", "pid"), encoding="utf-8") as pid:
            self.assertFalse(alive(pid.read()), "a process of the test is left")

    def test_hangs_before_a_test(self):
        results = self.run_files(self.file("test_before.py", HEAD + """
class First(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        time.sleep(1000)
    def test_it(self):
        pass
class Second(unittest.TestCase):
    def test_it(self):
        pass
""", "fault"), hang_s=30)
        self.assertEqual(self.states(results), {"First.test_it": "failed", "Second.test_it": "passed"})

    def test_process_ends(self):
        results = self.run_files(self.file("test_ends.py", HEAD + """
class Ends(unittest.TestCase):
    def test_a_killed(self):
        os.kill(os.getpid(), signal.SIGKILL)
    def test_b_exits(self):
        os._exit(0 if first("exits") else 3)
    def test_c(self):
        pass
""", "fault"))
        self.assertEqual(self.states(results), {"Ends.test_a_killed": "failed", "Ends.test_b_exits": "failed",
                                                "Ends.test_c": "passed"})
        self.assertIn("killed by signal 9", results[0].text)

    def test_cannot_be_loaded(self):
        results = self.run_files(self.file("test_load.py", "import no_such_module\n"))
        self.assertEqual([one.state for one in results], ["failed"])
        self.assertIn("no_such_module", results[0].text)

    def test_side_by_side(self):
        """Two files that wait for each other: both pass only if they run at the same time."""
        text = """
SIDE_BY_SIDE = True
import os, time, unittest
class Meets(unittest.TestCase):
    def test_meets(self):
        folder = os.path.dirname(os.path.abspath(__file__))
        open(os.path.join(folder, "%s"), "w").close()
        while not os.path.exists(os.path.join(folder, "%s")):
            time.sleep(0.01)
"""
        paths = [self.file("test_left.py", text % ("left", "right")),
                 self.file("test_right.py", text % ("right", "left"))]
        results = self.run_files(*paths, jobs=2, hang_s=30)
        self.assertEqual([one.state for one in results], ["passed", "passed"])

    def test_others_are_alone(self):
        text = """
import os, time, unittest
class Alone(unittest.TestCase):
    def test_alone(self):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "busy")
        os.mkdir(path)
        time.sleep(0.3)
        os.rmdir(path)
"""
        paths = [self.file("test_%s.py" % name, text) for name in ("one", "two")]
        results = self.run_files(*paths, jobs=2)
        self.assertEqual([(one.state, one.flaky) for one in results], [("passed", False)] * 2)

    def test_too_many_flaky(self):
        def flaky(count):
            return [outcomes.Outcome("t%d" % i, outcomes.PASSED, flaky=True) for i in range(count)]
        self.assertEqual(outcomes.flaky_failure(flaky(3)), [])
        self.assertEqual([one.state for one in outcomes.flaky_failure(flaky(4))], ["failed"])


class Command(Files):
    """The same as people see it."""

    def command(self, *paths):
        run = os.path.join(HERE, "..", "e2e", "run")
        env = dict(os.environ, TACHO_HANG_S="60")
        env.pop("TACHO_OUTCOMES", None)
        return subprocess.run([run, *paths], text=True, capture_output=True, check=False, env=env)

    def test_flaky_is_told(self):
        done = self.command(self.file("test_once.py", HEAD + """
class Once(unittest.TestCase):
    def test_once(self):
        self.assertFalse(first("once"))
"""))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout.splitlines()[-2:],
                         ["flaky: test_once.Once.test_once", "1 passed, 0 failed, 0 skipped"])

    def test_four_flaky_fail(self):
        done = self.command(self.file("test_four.py", HEAD + """
class Four(unittest.TestCase):
    pass
for i in range(4):
    setattr(Four, "test_%d" % i, lambda self, i=i: self.assertFalse(first("four%d" % i)))
"""))
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], "4 passed, 1 failed, 0 skipped")

    def test_failures_are_told_at_the_end(self):
        done = self.command(self.file("test_bad.py", HEAD + """
class Bad(unittest.TestCase):
    def test_a(self):
        self.fail("first reason")
    def test_b(self):
        self.fail("second reason")
    def test_c(self):
        pass
"""))
        self.assertEqual(done.returncode, 1)
        end = done.stdout[done.stdout.index("\nfailed:"):]
        for words in ("test_bad.Bad.test_a", "first reason", "test_bad.Bad.test_b", "second reason"):
            self.assertIn(words, end)
        self.assertTrue(end.endswith("\n1 passed, 2 failed, 0 skipped\n"), end)

    def test_no_such_file(self):
        self.assertEqual(self.command("test_nowhere").returncode, 2)

    def test_interrupted(self):
        """Nothing that it started is left."""
        path = self.file("test_hangs.py", HANGS)
        child = subprocess.Popen([os.path.join(HERE, "..", "e2e", "run"), path], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(child.kill)
        pid = os.path.join(self.folder, "pid")
        while not os.path.exists(pid) or not os.path.getsize(pid):
            self.assertIsNone(child.poll())
            time.sleep(0.01)
        child.terminate()
        self.assertNotEqual(child.wait(60), 0)
        with open(pid, encoding="utf-8") as text:
            self.assertFalse(alive(text.read()), "a process of the test is left")

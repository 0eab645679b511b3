"""Kernels that hide their addresses: every command says so, and which setting helps."""

import os
import subprocess
import unittest

from helpers import AS_NOBODY, TACHO, Case, environment, in_terminal, load, needs_namespace, needs_other_user, needs_root

COMMANDS = (("report", "-g", "none"), ("flame", "--format", "folded"), ("convert", "--to", "folded", "-o", "-"),
            ("annotate", "--stdio"), ("script",), ("script", "-G"), ("script", "--json"))
WHEN_RECORDED = r"the kernel hid its addresses from the recorder.*: record as root, or first: sysctl kernel\.kptr_restrict=0"


class HiddenKernel(Case):
    """In a mount namespace of its own, where /proc/kallsyms is as everybody sees it with kptr_restrict at 2."""

    def setUp(self):
        super().setUp()
        needs_namespace()
        with open("/proc/kallsyms") as text:
            lines = [line.split(" ", 1)[1] for line in text]
        self.write("kallsyms", "".join("0000000000000000 " + line for line in lines))
        self.write("two", "2\n")
        self.hidden = ["unshare", "-m", "--", "sh", "-c",
                       'mount --bind "$1/kallsyms" /proc/kallsyms && '
                       'mount --bind "$1/two" /proc/sys/kernel/kptr_restrict && shift && exec "$@"', "sh", self.home]

    def record(self, before=()):
        path = self.path("x.data")
        # Nearly all of the time is spent in system calls.
        result = self.tacho("record", "-e", "cpu-clock", "-F", "2000", "-g", "-o", path, "--", *load("calls", 1000000),
                            before=before)
        self.assertEqual(result.returncode, 0, result.stderr)
        os.chmod(path, 0o644)
        return path, result.stderr

    def assertSaid(self, path, sentence, before=()):
        for args in COMMANDS:
            with self.subTest(command=args):
                result = self.tacho(*args, "-i", path, before=before)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertRegex(result.stderr, r"(?m)^tacho: %s: \[kernel\.kallsyms\]: %s" % (args[0], sentence))
                self.assertEqual(result.stderr.count("[kernel.kallsyms]"), 1, result.stderr)

    def test_recorded_without_addresses(self):
        path, said = self.record(before=self.hidden)
        self.assertIn("the kernel hides its addresses, so its functions will have no names: run: sysctl "
                      "kernel.kptr_restrict=0\n", said)
        # Wherever it is read: nothing says where that kernel was.
        self.assertSaid(path, WHEN_RECORDED)
        self.assertSaid(path, WHEN_RECORDED, before=self.hidden)
        rows = self.tacho("report", "-i", path, "--no-children", "-g", "none").stdout
        self.assertRegex(rows, r"(?m)^ +\d+\.\d\d% +load +\[kernel.kallsyms\] +\[k\] ")
        # In the order of time it is the same.
        piped = self.path("piped.data")
        result = self.tacho("convert", "-i", path, "--to", "perfdata", "-z", "1", "-o", piped, "-q")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertSaid(piped, WHEN_RECORDED)

    def test_read_without_addresses(self):
        path, said = self.record()
        self.assertNotIn("hides", said)
        self.assertSaid(path, r"the kernel hides its addresses from this user.*: run: sysctl kernel\.kptr_restrict=0$",
                        before=self.hidden)
        self.assertNotIn("kptr_restrict", self.tacho("report", "-i", path).stderr)
        self.assertNotIn("kptr_restrict", self.tacho("script", "-i", path).stderr)

    def test_user_code_alone_needs_no_kernel(self):
        result = self.tacho("record", "-e", "cpu-clock:u", "-g", "-o", self.path("u.data"), "--", *load("busy", 50),
                            before=self.hidden)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("hides", result.stderr)
        self.assertNotIn("hid ", self.tacho("report", "-i", self.path("u.data")).stderr)

    def test_top(self):
        result = self.tacho("top", "--stdio", "-e", "cpu-clock", "--", *load("calls", 300000), before=self.hidden)
        self.assertIn("tacho: top: the kernel hides its addresses", result.stderr)

    def test_top_on_a_terminal(self):
        unshare = subprocess.run(["sh", "-c", "command -v unshare"], stdout=subprocess.PIPE, text=True).stdout.strip()
        # Drawn at the bottom, not printed and then covered.
        drawn = []

        def feed(output, fd):
            if not drawn and b"its functions will have no names" in output.partition(b"\x1b[?1049h")[2]:
                drawn.append(True)
                os.write(fd, b"q")
        in_terminal([unshare, *self.hidden[1:], TACHO, "top", "-e", "cpu-clock", "--", *load("busy", 20000)],
                    environment(self.home), columns=200, feed=feed)
        self.assertTrue(drawn)


class PlainUser(Case):
    def test_a_recording_of_root(self):
        """The setting that is named is one that hides addresses here."""
        needs_other_user()
        needs_root("to record the kernel")
        settings = {}
        for name in "kptr_restrict", "perf_event_paranoid":
            with open("/proc/sys/kernel/" + name) as text:
                settings[name] = int(text.read())
        if settings["kptr_restrict"] == 0 and settings["perf_event_paranoid"] < 2:
            raise unittest.SkipTest("the kernel hides nothing from plain users here")
        path = self.path("x.data")
        result = self.tacho("record", "-q", "-e", "cpu-clock", "-o", path, "--", *load("calls", 1000000))
        self.assertEqual(result.returncode, 0, result.stderr)
        os.chmod(path, 0o644)
        for command in "report", "script", "annotate":
            said = self.tacho(command, "-i", path, before=AS_NOBODY).stderr
            self.assertIn("the kernel hides its addresses from this user", said)
            self.assertEqual("kernel.kptr_restrict=0" in said, settings["kptr_restrict"] > 0, said)
            self.assertEqual("kernel.perf_event_paranoid=1" in said, settings["perf_event_paranoid"] > 1, said)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Programs that nobody sees when the recording is looked at: of other mount namespaces, deleted, and
with maps by the number inside of a pid namespace."""

import os
import signal
import subprocess
import unittest

from helpers import (FOR_EVER_MS, LIMIT_S, TACHO, children_of, compiled, environment, eventually, has_mapped,
                     has_open, needs_namespace)
from jit import JitCase, jit_program

SPIN_C = r"""
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) long spin_inside(long n)
{
	volatile long sum = 0;

	for (long i = 0; i < n; i++)
		sum += i;
	return sum;
}

int main(int argc, char **argv)
{
	clock_t end = clock() + atol(argv[1]) * (CLOCKS_PER_SEC / 1000);

	while (clock() < end)
		spin_inside(10000);
	while (argc > 2 && access(argv[2], F_OK))
		usleep(10000);
	return 0;
}
"""


class HeldCase(JitCase):
    """Programs that do not end before the collector has opened their file, however long that takes it."""

    def spin(self):
        return compiled("spin", SPIN_C, "-fno-omit-frame-pointer")

    def held(self):
        return self.path("held")

    def record_held(self, *command, opened=None, env=None):
        """What the command writes. It ends at once when the file is there, and its input has ended."""
        tacho = self.start([TACHO, "record", "-o", self.path("x.data"), *command], stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(self.home, env))
        self.wait_opened(tacho, opened)
        self.write("held", "")
        out, said = tacho.communicate(timeout=LIMIT_S)
        self.assertEqual(tacho.returncode, 0, said)
        return out

    def wait_opened(self, tacho, opened=None):
        """@opened stays open until the end; the program may be copied before, and then it is closed."""
        self.assertTrue(eventually(lambda: (not opened and self.kept()) or
                                   any(has_open(pid, opened or "/program") for pid in children_of(tacho.pid))))


class Namespaces(HeldCase):
    def assertNamed(self):
        counts = self.leaves()
        self.assertGreater(counts.get("spin_inside", 0), 0.7 * sum(counts.values()), counts)

    def in_tmpfs(self, ms, until=""):
        """A program that is only to be seen inside."""
        needs_namespace()
        return ["unshare", "-m", "-p", "-f", "sh", "-c", "mount -t tmpfs none /mnt && cp %s /mnt/program && "
                "/mnt/program %d %s" % (self.spin(), ms, until)]

    def test_a_program_inside(self):
        self.record_held(*self.in_tmpfs(300, self.held()))
        self.assertNamed()
        self.assertFalse(os.path.exists("/mnt/program"))

    def test_only_what_is_not_ours_is_copied(self):
        self.record_held(*self.in_tmpfs(50, self.held()))
        self.assertEqual(len(self.kept()), 1, self.kept())

    def test_nothing_is_copied_if_not_wanted(self):
        self.record("-N", *self.in_tmpfs(50))
        self.assertEqual(self.kept(), [])
        self.assertNotIn("spin_inside", self.leaves())

    def test_one_that_runs_already(self):
        needs_namespace()
        script = "mount -t tmpfs none /mnt && cp %s /mnt/program && exec /mnt/program %d"
        child = self.start(["unshare", "-m", "sh", "-c", script % (self.spin(), FOR_EVER_MS)])
        self.assertTrue(eventually(lambda: has_mapped(child.pid, "/program")))
        tacho = self.start([TACHO, "record", "-o", self.path("x.data"), "-p", child.pid], stdin=subprocess.DEVNULL,
                           stderr=subprocess.PIPE)
        self.wait_opened(tacho)
        self.assertTrue(eventually(lambda: len(self.samples_so_far()) > 100))
        tacho.send_signal(signal.SIGINT)
        said = tacho.communicate(timeout=LIMIT_S)[1]
        self.assertEqual(tacho.returncode, 0, said)
        child.kill()
        child.wait()
        self.assertNamed()

    def test_a_map_by_the_number_inside(self):
        needs_namespace()
        # The program is brought along, because its own place is in the /tmp that is hidden.
        inside = int(self.record_held("unshare", "-m", "-p", "-f", "--mount-proc", "sh", "-c",
                                      "mount -t tmpfs none /mnt && cp \"$0\" /mnt/jit && "
                                      "mount -t tmpfs none /tmp && /mnt/jit map . made_inside 1500; true",
                                      jit_program(), opened="/tmp$", env={"JIT_HELD": "1"}))
        self.assertLess(inside, 100)
        self.assertFalse(os.path.exists("/tmp/perf-%d.map" % inside))
        counts = self.leaves()
        self.assertGreater(counts.get("made_inside", 0), 0.7 * sum(counts.values()), counts)

    def test_a_dump_inside(self):
        needs_namespace()
        self.record_held("unshare", "-m", "-p", "-f", "sh", "-c",
                         "mount -t tmpfs none /mnt && \"$0\" dump /mnt made_inside 1500; true", jit_program(),
                         opened="/jit-", env={"JIT_HELD": "1"})
        counts = self.leaves()
        self.assertGreater(counts.get("made_inside", 0), 0.7 * sum(counts.values()), counts)


class Deleted(HeldCase):
    def program(self):
        path = self.path("program")
        subprocess.run(["cp", self.spin(), path], check=True)
        return path

    def test_while_it_is_recorded(self):
        path = self.program()
        self.record_held("sh", "-c", "$0 200 $1 & while [ ! -e $1 ]; do sleep 0.1; done; rm $0; wait", path, self.held())
        self.assertIn("spin_inside", self.leaves())

    def test_replaced_by_another(self):
        path = self.program()
        self.record_held("sh", "-c", "$0 200 $1; cp /bin/true $0.new; mv $0.new $0", path, self.held())
        self.assertIn("spin_inside", self.leaves())

    def test_nothing_is_copied_if_not_wanted(self):
        path = self.program()
        self.record("-N", "sh", "-c", "$0 200 $1 & until [ \"$(readlink /proc/$!/exe)\" = $0 ]; do sleep 0.01; done; "
                    "rm $0; echo >$1; wait", path, self.held())
        self.assertEqual(self.kept(), [])
        self.assertNotIn("spin_inside", self.leaves())


if __name__ == "__main__":
    unittest.main()

"""Programs that behave badly, and what becomes of their runs."""

import os
import pwd
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

from helpers import Case, compiled, eventually, load  # noqa: E402
from server import Server  # noqa: E402
from test_runs import processes  # noqa: E402

BAD_C = r"""
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static void closes(void)
{
	for (int i = 0; i < 1024; i++)
		close(i);
}

static pid_t parent_of(pid_t pid)
{
	char path[64];
	int parent = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%*d %*s %*c %d", &parent) != 1)
		exit(6);
	fclose(f);
	return parent;
}

/* The name is that of the test, so that what is left can be found. */
int main(int argc, char **argv)
{
	const char *what = argv[1];
	long n = argc > 2 ? atol(argv[2]) : 0;
	static char block[65536];

	alarm(60);
	memset(block, 'x', sizeof(block));
	if (!strcmp(what, "forks")) {
		for (long i = 0; i < n; i++)
			if (!fork()) {
				alarm(60);
				pause();
				_exit(0);
			}
		for (;;)
			pause();
	}
	if (!strcmp(what, "bombs")) { /* as many as it may; who is killed is replaced at once */
		signal(SIGTERM, SIG_IGN);
		for (;;)
			if (!fork())
				alarm(60);
	}
	if (!strcmp(what, "detached")) { /* as a daemon does */
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		for (long i = 0; i < n; i++)
			if (!fork()) {
				setsid();
				if (fork())
					_exit(0);
				closes();
				for (;;)
					;
			}
		while (wait(NULL) > 0)
			;
		for (;;)
			pause();
	}
	if (!strcmp(what, "prints"))
		for (; n > 0; n -= sizeof(block))
			if (write(1, block, sizeof(block)) < 0)
				return 4;
	if (!strcmp(what, "stops")) { /* whoever is so many steps above */
		pid_t above = getppid();

		while (n--)
			above = parent_of(above);
		kill(above, SIGSTOP);
		for (;;)
			;
	}
	if (!strcmp(what, "traces")) {
		pid_t above = getppid();

		while (n--)
			above = parent_of(above);
		if (ptrace(PTRACE_ATTACH, above, 0, 0))
			return 7;
		for (;;)
			;
	}
	if (!strcmp(what, "closes")) {
		closes();
		usleep(300000);
		return 5;
	}
	return 0;
}
"""


def idle_account():
    """A user without processes: the kernel counts those of the whole machine, also of other tests."""
    def owner(pid):
        try:
            return os.stat("/proc/" + pid).st_uid
        except OSError:
            return None

    busy = {owner(pid) for pid in filter(str.isdigit, os.listdir("/proc"))}
    names = [user.pw_name for user in pwd.getpwall() if user.pw_uid and user.pw_uid not in busy]
    return names[os.getpid() % len(names)]


class Workload(Case):
    def setUp(self):
        super().setUp()
        self.server = Server("--output-max", "1M")
        self.addCleanup(self.server.close)
        self.server.start()
        self.session = self.server.session()
        self.program = compiled("bad", BAD_C)

    def submit(self, *words, **plan):
        plan.setdefault("tool", "both")
        plan.setdefault("events", ["task-clock", "page-faults"])
        plan.setdefault("sample", {"events": ["cpu-clock"]})
        return self.server.run(self.session, [self.program, *map(str, words)], **plan)["uuid"]

    def cancel(self, uuid):
        self.server.post("benchmark/%s/cancel" % uuid)
        return self.server.wait_run(uuid)

    def test_forks_a_thousand_children(self):
        uuid = self.submit("forks", 1000)
        self.assertTrue(eventually(lambda: len(processes(self.program)) > 1000))
        self.assertEqual(self.cancel(uuid)["state"], "cancelled")
        self.assertTrue(eventually(lambda: not processes(self.program)))

    def test_forks_more_than_it_may(self):
        """Bounded for a user; the kernel does not bound root, which is said."""
        if os.geteuid():
            self.skipTest("only root can run programs as somebody else")
        for folder in (self.program, os.path.dirname(self.program), os.path.dirname(os.path.dirname(self.program))):
            os.chmod(folder, 0o755)
        uuid = self.submit("forks", 300, user=idle_account(), limits={"processes": 100})
        self.assertTrue(eventually(lambda: len(processes(self.program)) > 2))
        time.sleep(0.3)
        self.assertLessEqual(len(processes(self.program)), 100)
        self.cancel(uuid)
        uuid = self.submit("forks", 5, limits={"processes": 100})
        self.assertTrue(eventually(lambda: len(processes(self.program)) > 2))
        self.cancel(uuid)
        self.assertEqual(processes(self.program), [])
        self.assertIn("does not hold for root", str(self.server.get("benchmark/%s/ledger" % uuid)))

    def test_forks_all_the_time(self):
        """Each that is killed makes room for another one: bounded by a limit that only holds for a user."""
        if os.geteuid():
            self.skipTest("only root can run programs as somebody else")
        for folder in (self.program, os.path.dirname(self.program), os.path.dirname(os.path.dirname(self.program))):
            os.chmod(folder, 0o755)
        uuid = self.submit("bombs", user=idle_account(), limits={"processes": 60})
        self.assertTrue(eventually(lambda: len(processes(self.program)) > 30))
        self.assertEqual(self.cancel(uuid)["state"], "cancelled")
        self.assertEqual(processes(self.program), [])

    def test_detached_ones_that_ignore_signals(self):
        uuid = self.submit("detached", 3)
        self.assertTrue(eventually(lambda: len(processes(self.program)) == 4))
        self.assertEqual(self.cancel(uuid)["state"], "cancelled")
        self.assertEqual(processes(self.program), [])

    def test_prints_a_gigabyte(self):
        before = self.server.rss_bytes()
        run = self.server.wait_run(self.submit("prints", 1 << 30), 120)
        self.assertEqual((run["state"], run["exit_status"]), ("done", 0))
        self.assertGreater(run["ledger"]["output_dropped_bytes"], 1 << 29)
        self.assertLessEqual(len(self.server.get_bytes("benchmark/%s.log" % run["uuid"])), 1 << 20)
        self.assertLess(self.server.rss_bytes(), before + 100e6)

    def test_closes_its_descriptors(self):
        run = self.server.wait_run(self.submit("closes"))
        self.assertEqual((run["state"], run["exit_status"]), ("done", 5))

    def test_stops_its_collector(self):
        """Neither of the two processes above it, and the time that it has holds all the same."""
        for steps in (0, 1):
            with self.subTest(steps=steps):
                run = self.server.wait_run(self.submit("stops", steps, timeout=1))
                self.assertEqual(run["state"], "failed")
                self.assertIn("longer than its timeout", run["error"])
                self.assertEqual(processes(self.program), [])

    def test_traces_its_collector(self):
        for steps, words in ((0, "debugger"), (1, "was killed by signal 9")):
            with self.subTest(steps=steps):
                run = self.server.wait_run(self.submit("traces", steps))
                if run["exit_status"] == 7:
                    self.skipTest("no process may trace another one here")
                self.assertEqual(run["state"], "failed")
                self.assertIn(words, run["error"])
                self.assertTrue(eventually(lambda: not processes(self.program)))

    def test_ignores_sigterm(self):
        uuid = self.server.run(self.session, load("stubborn"), tool="stat")["uuid"]
        self.server.wait_state(uuid, "running")
        self.assertTrue(eventually(lambda: processes(load()[0])))
        self.assertEqual(self.cancel(uuid)["state"], "cancelled")
        self.assertEqual(processes(load()[0]), [])

    def test_is_not_there(self):
        for words in (["/nowhere"], ["nowhere"], [self.home]):
            run = self.server.run(self.session, words, tool="record")
            run = self.server.wait_run(run["uuid"])
            self.assertEqual(run["state"], "failed")
            self.assertIn(words[0], run["error"])

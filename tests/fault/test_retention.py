"""What goes when there is too much of it, and what does not: a quota, the size and the age of runs, and a clock
that jumps."""

import json
import os
import re
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

from helpers import compiled, eventually  # noqa: E402
from test_runs import processes, tree  # noqa: E402
from test_store import StoreCase  # noqa: E402


class Quota(StoreCase):
    def test_reached_while_it_runs(self):
        self.serve("--quota", "6M", "--output-max", "1G")
        program = tree(1)
        line = "%s 1 & head -c 20000000 /dev/urandom; sleep 60" % program[0]
        uuid = self.submit(line, shell=True, events=["task-clock"])
        run = self.server.wait_run(uuid)
        self.assertEqual(run["state"], "failed")
        self.assertRegex(run["error"], r"no room left.*the quota is 6\.\d+ MB")
        self.assertTrue(eventually(lambda: not processes(program[0])))
        answer = self.server.request("POST", "session/" + self.session, {"workload": "true", "tool": "stat"})
        self.assertEqual(answer.status, 507, answer)
        self.assertIn("--quota", answer.message())
        self.server.delete("benchmark/" + uuid)
        # The room is given back a moment later.
        self.assertTrue(eventually(lambda: self.server.request(
            "POST", "session/" + self.session, {"workload": "true", "tool": "stat"}).status == 202))
        self.assertEqual(self.done(), "done")

    def begin_upload(self, length):
        """Says how much will come, and waits."""
        s = socket.create_connection((self.server.host, self.server.port), 30)
        self.addCleanup(s.close)
        s.sendall(b"POST /api/v1/import HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s\r\n\r\n" %
                  (self.server.token.encode(), length))
        return s

    def test_uploads_count(self):
        """Those that are on their way, too: many at once take no more than one may."""
        self.serve("--quota", "20M")
        answer = self.begin_upload(b"Content-Length: 30000000").recv(65536)
        self.assertIn(b" 507 ", answer)
        self.assertIn(b"what is being uploaded 30.0 MB, and the quota is 21.0 MB", answer)
        # One that does not say how large it is.
        s = self.begin_upload(b"Transfer-Encoding: chunked")
        try:
            for _ in range(21):
                s.sendall(b"%x\r\n%s\r\n" % (1 << 20, b"x" * (1 << 20)))
            s.sendall(b"0\r\n\r\n")
        except ConnectionError:
            pass
        self.assertIn(b" 507 ", s.recv(65536))
        waiting = [self.begin_upload(b"Content-Length: 6000000") for _ in range(3)]
        self.assertTrue(eventually(lambda: self.server.request("POST", "import", b"x" * 6_000_000).status == 507))
        for one in waiting:
            one.close()
        # Who is gone takes nothing; then this is no recording, which is another matter.
        self.assertTrue(eventually(lambda: self.server.request("POST", "import", b"x" * 6_000_000).status == 202))


class Retention(StoreCase):
    def megabyte(self, **plan):
        uuid = self.submit("head -c 1000000 /dev/urandom", events=["task-clock"], **plan)
        self.assertEqual(self.done(uuid), "done")
        return uuid

    def gone(self, uuid):
        return self.server.request("GET", "benchmark/%s.json" % uuid).status == 404

    def test_oldest_go_first(self):
        self.serve("--keep-size", "2500K")
        noted = self.megabyte(note="the first one")
        tagged = self.megabyte(tags=["keep"])
        third = self.megabyte()
        self.assertTrue(eventually(lambda: self.gone(third)))
        fourth = self.megabyte()
        self.assertTrue(eventually(lambda: self.gone(fourth)))
        self.assertFalse(self.gone(noted))
        self.assertFalse(self.gone(tagged))
        self.assertTrue(eventually(lambda: self.server.data_bytes() < 14 << 20))


CLOCK_C = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Seconds that the wall clock is wrong by: a file that a test writes while we run. */
static volatile long long *offset;

__attribute__((constructor)) static void begin(void)
{
	int fd = open(getenv("CLOCK_OFFSET") ? getenv("CLOCK_OFFSET") : "", O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		offset = mmap(NULL, 8, PROT_READ, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (offset == MAP_FAILED)
		offset = NULL;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	static int (*real)(clockid_t, struct timespec *);
	int rc;

	if (!real)
		real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	rc = real(id, ts);
	if (!rc && id == CLOCK_REALTIME && offset)
		ts->tv_sec += *offset;
	return rc;
}
"""

DAY_S = 24 * 3600
YEAR_S = 365 * 86400


class ClockJumps(StoreCase):
    """The wall clock is for people; nothing else goes by it."""

    def setUp(self):
        super().setUp()
        self.file = self.path("offset")
        self.jump(0)
        library = compiled("clock.so", CLOCK_C, "-shared", "-fPIC", "-ldl")
        self.serve("--keep-age", "30d", env={"LD_PRELOAD": library, "CLOCK_OFFSET": self.file})

    def jump(self, seconds):
        exists = os.path.exists(self.file)
        with open(self.file, "r+b" if exists else "wb") as out:
            out.write(seconds.to_bytes(8, "little", signed=True))

    def checks(self, seconds, year):
        old = self.submit("sleep 0.2", events=["task-clock"])
        self.assertEqual(self.done(old), "done")
        # Runs until it is told to end.
        told, until = self.path("told"), ["sh", "-c", "while [ ! -e '%s' ]; do sleep 0.1; done" % self.path("told")]
        uuid = self.submit(until, events=["task-clock"], interval=0.05)
        self.server.wait_state(uuid, "running")
        self.assertTrue(eventually(lambda: self.server.benchmark(uuid)["progress"]["elapsed_s"] > 1.2))
        self.jump(seconds)
        self.assertLess(abs(self.server.benchmark(uuid)["progress"]["elapsed_s"]), DAY_S)
        self.write(told, "")
        run = self.server.wait_run(uuid)
        self.assertEqual(run["state"], "done", run["error"])
        # The jump is real: it can be seen where people look.
        self.assertIn(str(year), run["ended_at"])
        timeline = self.server.get("benchmark/%s/timeline" % uuid, {"pixels": 100})
        self.assertLess(timeline["to_ns"] - timeline["from_ns"], DAY_S * 1e9)
        self.assertTrue(json.dumps(timeline["counters"]))
        # The next one knows how long the last one took.
        os.unlink(told)
        again = self.submit(until, events=["task-clock"])
        self.server.wait_state(again, "running")
        expected = self.server.benchmark(again)["progress"]["expected_s"]
        self.assertTrue(1 < expected < DAY_S, expected)
        self.write(told, "")
        self.assertEqual(self.done(again), "done")
        # Nothing has become old because of it.
        time.sleep(1.5)
        for each in (old, uuid, again):
            self.assertEqual(self.server.benchmark(each)["state"], "done")

    def test_forward(self):
        self.checks(YEAR_S, time.gmtime(time.time() + YEAR_S).tm_year)

    def test_backward(self):
        self.checks(-YEAR_S, time.gmtime(time.time() - YEAR_S).tm_year)

    def warnings(self):
        return self.server.get("me")["server"]["warnings"]

    def test_wrong_at_the_start(self):
        """20 years ahead, with keep-age: every run seems to be old, and none goes."""
        runs = [self.submit() for _ in range(3)]
        for each in runs:
            self.assertEqual(self.done(each), "done")
        self.server.stop()
        self.jump(20 * YEAR_S)
        self.server.start()
        self.assertTrue(eventually(self.warnings))
        self.assertIn("The clock has jumped to %d-" % time.gmtime(time.time() + 20 * YEAR_S).tm_year,
                      self.warnings()[0])
        self.assertEqual(self.figure("tacho_keep_age_waits"), 1)
        for each in runs:
            self.assertEqual(self.server.benchmark(each)["state"], "done")
        # A run of that time, and then the clock is set right.
        runs.append(self.submit())
        self.assertEqual(self.done(runs[-1]), "done")
        self.server.stop()
        self.jump(0)
        self.server.start()
        self.assertTrue(eventually(self.warnings))
        self.assertIn("The newest run has ended at", self.warnings()[0])
        runs.append(self.submit())
        self.assertEqual(self.done(runs[-1]), "done")
        self.assertTrue(eventually(lambda: not self.warnings()))
        self.assertEqual(self.figure("tacho_expired_runs_total"), 0)
        for each in runs:
            self.assertEqual(self.server.benchmark(each)["state"], "done")

    def figure(self, name):
        return float(re.search(r"^%s (\S+)$" % name, self.server.get_bytes("/metrics").decode(), re.M)[1])

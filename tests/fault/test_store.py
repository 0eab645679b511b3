"""Faults of the store as users meet them: a database that is locked, damaged or newer, a disk that is
full or read-only, a quota, a clock that jumps. Every one is a sentence, nothing crashes, no
program is left running, and when the fault is over the server goes on."""

import json
import os
import socket
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

from helpers import LIMIT_S, Case, compiled, eventually, needs_namespace  # noqa: E402
from server import Server  # noqa: E402
from test_runs import processes, tree  # noqa: E402

MOUNTED = 'mount -t tmpfs -o size=%s none "$0" && exec "$@"'


class StoreCase(Case):
    size = None  # of a small disk for the data; None: none

    def setUp(self):
        super().setUp()
        self.server = None

    def serve(self, *options, start=True, **more):
        if self.size:
            needs_namespace()
            self.disk = self.path("disk")
            os.mkdir(self.disk)
            more["data"] = os.path.join(self.disk, "store")
            more["before"] = ["unshare", "-m", "sh", "-c", MOUNTED % self.size, self.disk]
        self.server = Server(*options, **more)
        self.addCleanup(self.server.close)
        if start:
            self.server.start()
            self.session = self.server.session()

    def inside(self, *argv):
        """In the mount namespace of the server."""
        return subprocess.run(["nsenter", "-t", str(self.server.pid()), "-m", "-r", *argv], text=True,
                              check=True, capture_output=True)

    def submit(self, workload="true", **plan):
        plan.setdefault("tool", "stat")
        return self.server.run(self.session, workload, **plan)["uuid"]

    def done(self, uuid=None):
        return self.server.wait_run(uuid or self.submit())["state"]

    def burner(self):
        """A program that runs until it is ended, and its name."""
        program = tree(1)
        uuid = self.submit(" ".join(program), events=["task-clock"], interval=0.01)
        self.assertTrue(eventually(lambda: processes(program[0])))
        self.server.wait_state(uuid, "running")
        return uuid, program[0]

    def fails_to_start(self, sentence):
        with self.assertRaisesRegex(AssertionError, sentence):
            self.server.start()
        self.assertNotIn(self.server.child.returncode, (None, 0))
        self.assertGreater(self.server.child.returncode, 0, "it was killed by a signal")


class Locked(StoreCase):
    def lock(self):
        store = sqlite3.connect(os.path.join(self.server.data, "tacho.db"), isolation_level=None,
                                timeout=LIMIT_S)
        self.addCleanup(store.close)
        store.execute("BEGIN EXCLUSIVE")
        return store

    def test_watchers_do_not_wait(self):
        """Whoever looks at a run does not wait for the disk."""
        self.serve()
        uuid, _ = self.burner()
        lock, seen, last_ns = None, 0, 0
        for event in self.server.stream({"run": uuid}):
            if event.name != "counts":
                continue
            lock, seen, last_ns = lock or self.lock(), seen + 1, max([last_ns, *event.json()["t"]])
            if seen == 40:
                break
        # The store was locked all the time. A try to get it takes a second, and the server tries for 20 s:
        # watchers who wait for that see a few messages, and then the end.
        self.assertEqual(seen, 40)
        self.assertEqual(self.server.benchmark(uuid)["state"], "running")
        lock.execute("ROLLBACK")
        self.server.post("benchmark/%s/cancel" % uuid)
        self.assertEqual(self.server.wait_run(uuid)["state"], "cancelled")
        # All of it is there in the end, from before, during and after.
        stored = self.server.get("benchmark/%s/timeline" % uuid, {"pixels": 50})
        self.assertGreaterEqual(stored["to_ns"], last_ns)
        means = stored["counters"][0]["mean"]
        self.assertNotIn(None, means[1:-1])

    def test_for_long(self):
        self.serve()
        uuid, program = self.burner()
        lock = self.lock()
        # Questions are answered, changes say why not.
        self.assertEqual(self.server.benchmark(uuid)["state"], "running")
        answer = self.server.request("POST", "sessions", {"title": "x"})
        self.assertEqual(answer.status, 503, answer)
        self.assertIn("locked by another program", answer.message())
        # What cannot be stored is not measured any longer.
        self.assertTrue(eventually(lambda: not processes(program), 90))
        self.assertEqual(self.server.get("/healthz")["status"], "ok")
        lock.execute("COMMIT")
        run = self.server.wait_run(uuid)
        self.assertEqual(run["state"], "failed")
        self.assertIn("locked by another program", run["error"])
        self.assertEqual(self.done(), "done")

    def test_at_the_start(self):
        self.serve()
        self.server.stop()
        lock = self.lock()
        self.fails_to_start("locked by another program")
        lock.execute("COMMIT")
        self.server.start()
        self.assertEqual(self.done(), "done")


class ReadOnly(StoreCase):
    size = "64m"

    def test_at_the_start(self):
        self.serve()
        self.server.stop()
        # A new namespace has a new disk: this one is made read-only before the server sees it.
        self.server.before[-2] = 'mount -t tmpfs -o ro none "$0" && exec "$@"'
        self.fails_to_start("(Read-only|cannot be made|cannot make)")


class Full(StoreCase):
    size = "64m"

    def test_deleting_makes_room(self):
        """Not one free byte is left; deleting works all the same, and the disk gets it back."""
        self.serve()
        uuid = self.submit("head -c 12000000 /dev/urandom", events=["task-clock"])
        self.assertEqual(self.done(uuid), "done")
        filler = os.path.join(self.disk, "filler")
        subprocess.run(["nsenter", "-t", str(self.server.pid()), "-m", "-r", "sh", "-c",
                        "cat /dev/zero > '%s'" % filler], stderr=subprocess.DEVNULL)
        # Refused at once, or, if there is room in the log for a line, when its output does not fit.
        answer = self.server.request("POST", "session/" + self.session, {
            "workload": "head -c 15000000 /dev/urandom", "tool": "stat", "events": ["task-clock"]})
        if answer.status == 202:
            run = self.server.wait_run(answer.json()["uuid"])
            self.assertEqual(run["state"], "failed")
            self.assertRegex(run["error"], "cannot be stored: The disk .* is full")
        else:
            self.assertEqual(answer.status, 507, answer)
            self.assertRegex(answer.message(), "The disk .* is full")
        before = self.database_bytes()
        self.server.delete("benchmark/" + uuid)
        self.assertTrue(eventually(lambda: self.database_bytes() < before - 10_000_000))
        self.assertEqual(self.done(), "done")

    def database_bytes(self):
        """With its log: who knows how much of it has gone into the file."""
        sizes = self.inside("stat", "-c", "%s", *(self.server.data + "/tacho.db" + x for x in ("", "-wal")))
        return sum(int(size) for size in sizes.stdout.split())


class Damaged(StoreCase):
    def setUp(self):
        super().setUp()
        self.serve()
        self.assertEqual(self.done(), "done")
        self.server.stop()
        self.database = os.path.join(self.server.data, "tacho.db")

    def test_not_a_database(self):
        with open(self.database, "wb") as out:
            out.write(b"this was a database once\n" * 1000)
        self.fails_to_start("damaged, or not a database")

    def test_of_a_newer_tacho(self):
        store = sqlite3.connect(self.database)
        store.execute("INSERT INTO schema_steps VALUES (999, '7.0', 1)")
        store.commit()
        store.close()
        self.fails_to_start(r"newer tacho \(7.0, schema 999")

    def test_log_is_cut(self):
        """What a power cut leaves of the log: it starts with what was whole."""
        self.server.start()
        uuid = self.submit("sleep 60", events=["task-clock"], interval=0.01)
        self.server.wait_state(uuid, "running")
        self.assertTrue(eventually(lambda: self.server.benchmark(uuid)["bytes"] > 2000))
        self.server.kill9()
        log = self.database + "-wal"
        os.truncate(log, os.path.getsize(log) - 1000)
        self.server.start()
        self.assertIn(self.server.benchmark(uuid)["state"], ("interrupted", "queued", "running"))
        self.server.request("POST", "benchmark/%s/cancel" % uuid)
        self.server.wait_run(uuid)
        store = sqlite3.connect(self.database)
        self.assertEqual(store.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        store.close()
        self.assertEqual(self.done(), "done")


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

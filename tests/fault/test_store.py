"""Faults of the store as users meet them: a database that is locked, damaged or newer, a disk that is
full or read-only. Every one is a sentence, nothing crashes, no program is left running, and when the
fault is over the server goes on."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

from helpers import LIMIT_S, Case, eventually, load, needs_namespace, needs_program  # noqa: E402
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


class NoUsers(StoreCase):
    def test_a_token_that_cannot_be_looked_up_is_not_refused(self):
        """Who throws a token away because of a fault of the database has none when that is over."""
        self.serve()
        with sqlite3.connect(os.path.join(self.server.data, "tacho.db"), timeout=LIMIT_S) as store:
            self.addCleanup(store.close)
            store.execute("ALTER TABLE users RENAME TO elsewhere")
        for token in ("own", "x" * 43):
            answer = self.server.request("GET", "me", token=token)
            self.assertEqual(answer.status, 503, answer)
            self.assertIn("cannot be read now", answer.message())
            self.assertNotIn(self.server.data, answer.text)
        self.assertEqual(self.server.request("GET", "me", token=None).status, 401)
        with store:
            store.execute("ALTER TABLE elsewhere RENAME TO users")
        self.assertEqual(self.server.get("me")["role"], "administer")
        self.assertEqual(self.server.request("GET", "me", token="x" * 43).status, 401)


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


    def test_is_rescued_as_the_sentence_says(self):
        needs_program("sqlite3")
        store = sqlite3.connect(self.database)
        root, = store.execute("SELECT rootpage FROM sqlite_master WHERE name = 'users'").fetchone()
        size, = store.execute("PRAGMA page_size").fetchone()
        store.close()
        with open(self.database, "r+b") as out:
            out.seek((root - 1) * size)
            out.write(b"\xff" * size)
        with self.assertRaisesRegex(AssertionError, "damaged, or not a database") as failed:
            self.server.start()
        self.assertIn("Nothing was changed", str(failed.exception))
        with open(self.database, "rb") as data:
            damaged = data.read()
        commands = re.search(r"then: (.*)", str(failed.exception))[1]
        subprocess.run(["sh", "-c", commands], check=True, capture_output=True)
        with open(os.path.join(self.server.data, "damaged", "tacho.db"), "rb") as data:
            self.assertEqual(data.read(), damaged)
        self.server.start()
        runs = self.server.get("session/" + self.session)["runs"]
        self.assertEqual([run["state"] for run in runs], ["done"])
        self.assertEqual(self.done(), "done")


class NewDatabase(StoreCase):
    """The database is gone, and a server starts: what it does not know, it keeps."""

    def setUp(self):
        super().setUp()
        self.serve()
        self.database = os.path.join(self.server.data, "tacho.db")
        self.uuid = self.submit(load("busy", 200), tool="record", keep_raw=True,
                                sample={"events": ["cpu-clock"]})
        self.assertEqual(self.done(self.uuid), "done")
        with open(self.raw(), "rb") as data:
            self.recording = data.read()
        self.server.stop()

    def raw(self):
        return os.path.join(self.server.data, "raw", self.uuid + ".data")

    def lost(self):
        return [os.path.join(self.server.data, "lost", name) for name in
                sorted(os.listdir(os.path.join(self.server.data, "lost")))]

    def test_recordings_are_kept(self):
        # A server that was stopped leaves all of it in one file.
        self.assertFalse(os.path.exists(self.database + "-wal"))
        away = self.path("away.db")
        os.rename(self.database, away)
        self.server.start()
        said = "".join(self.server.errors)
        self.assertIn("The database is new", said)
        self.assertIn("Nothing was deleted", said)
        warnings = ["tacho: " + x for x in self.server.get("me")["server"]["warnings"]]
        self.assertEqual(len(warnings), 1)
        self.assertTrue(said.startswith(warnings[0] + "\n"), (said, warnings))
        path, = (x for x in self.lost() if x.endswith("-%s.data" % self.uuid))
        with open(path, "rb") as data:
            self.assertEqual(data.read(), self.recording)
        # It can be imported, as the sentence says.
        session = self.server.session("rescued")
        run = self.server.post("import", self.recording, status=202, query={"session": session})
        self.assertEqual(self.done(run["uuid"]), "done")
        # The right database comes back, and the recording to its run.
        self.server.stop()
        os.rename(away, self.database)
        self.server.start()
        self.assertIn("moved back", "".join(self.server.errors))
        self.assertEqual([x for x in self.lost() if self.uuid in x], [])
        self.assertEqual(self.server.get_bytes("benchmark/%s.data" % self.uuid), self.recording)

    def test_an_older_database(self):
        """A backup from before the run was measured."""
        os.rename(self.raw(), self.path("raw"))
        later = str(uuid.uuid4())
        os.rename(self.path("raw"), os.path.join(self.server.data, "raw", later + ".data"))
        self.server.start()
        self.assertIn("does not know the runs of 1 recording.", "".join(self.server.errors))
        self.assertTrue([x for x in self.lost() if later in x])

    def test_a_log_without_its_database(self):
        """Killed, and then only tacho.db was moved away: what is in the log is in no other file."""
        self.server.start()
        self.assertEqual(self.done(), "done")
        self.server.kill9()
        with open(self.database + "-wal", "rb") as log:
            before = log.read()
        self.assertTrue(before)
        os.rename(self.database, self.path("away.db"))
        self.server.start()
        log, = (x for x in self.lost() if x.endswith("-tacho.db-wal"))
        self.assertIn("-tacho.db-wal", "".join(self.server.errors))
        self.server.stop()
        os.rename(self.path("away.db"), self.database)
        os.rename(log, self.database + "-wal")
        self.server.start()
        self.assertEqual(len(self.server.get("session/" + self.session)["runs"]), 2)


class TakenAway(StoreCase):
    """The database is deleted or replaced while the server uses it."""

    def setUp(self):
        super().setUp()
        self.serve()
        self.database = os.path.join(self.server.data, "tacho.db")
        self.old = self.submit()
        self.assertEqual(self.done(self.old), "done")

    def is_noticed(self):
        health = self.server.get("/healthz", status=503, token=None)
        self.assertEqual(health["status"], "failing")
        self.assertIn("deleted or replaced", health["reason"])
        self.assertNotIn(self.server.data, health["reason"])
        self.assertIn("deleted or replaced", self.server.get("me")["server"]["warnings"][0])
        for method, path, body in (("POST", "session/" + self.session, {"workload": "true", "tool": "stat"}),
                                   ("POST", "sessions", {"title": "x"}),
                                   ("PATCH", "benchmark/" + self.old, {"note": "x"}),
                                   ("DELETE", "benchmark/" + self.old, None)):
            answer = self.server.request(method, path, body)
            self.assertEqual(answer.status, 503, answer)
            self.assertIn("deleted or replaced", answer.message())
            self.assertIn("restart", answer.message())
        # What was stored can be read.
        self.assertEqual(self.server.benchmark(self.old)["state"], "done")

    def fails(self, uuid):
        run = self.server.wait_run(uuid)
        self.assertEqual(run["state"], "failed")
        self.assertIn("cannot be stored", run["error"])
        self.assertIn("deleted or replaced", run["error"])

    def test_deleted(self):
        uuid, program = self.burner()
        os.unlink(self.database)
        self.fails(uuid)
        self.assertTrue(eventually(lambda: not processes(program)))
        self.is_noticed()
        self.assertIn(b"task-clock", self.server.get_bytes("benchmark/%s.csv" % self.old))
        self.server.stop()
        self.server.start()
        self.assertEqual(self.server.get("/healthz"), {"status": "ok"})

    def test_run_that_has_nothing_to_store(self):
        """It is not measured until its end, and then for nothing."""
        uuid = self.submit("sleep 1000", events=["task-clock"], interval=1000)
        self.server.wait_state(uuid, "running")
        os.unlink(self.database)
        self.fails(uuid)

    def test_replaced(self):
        uuid, _ = self.burner()
        other = self.path("other.db")
        shutil.copy(self.database, other)
        os.rename(other, self.database)
        self.fails(uuid)
        self.is_noticed()
        # The new one is not written to by the old server, not even when that ends.
        with open(self.database, "rb") as data:
            before = data.read()
        self.server.stop()
        with open(self.database, "rb") as data:
            self.assertEqual(data.read(), before)
        # Nor is the old one's log left to be applied to it.
        self.assertFalse(os.path.exists(self.database + "-wal"))
        self.assertTrue([x for x in os.listdir(os.path.join(self.server.data, "lost"))
                         if x.endswith("-tacho.db-wal")])

    def test_log_deleted(self):
        os.unlink(self.database + "-wal")
        self.is_noticed()

    def test_moved_away_and_back(self):
        os.rename(self.database, self.path("away.db"))
        self.is_noticed()
        os.rename(self.path("away.db"), self.database)
        self.assertEqual(self.server.get("/healthz"), {"status": "ok"})
        self.assertEqual(self.server.get("me")["server"]["warnings"], [])
        self.assertEqual(self.done(), "done")
        # Nothing of what was refused has been done.
        self.assertEqual(len(self.server.get("session/" + self.session)["runs"]), 2)
        self.assertEqual(len(self.server.get("sessions")["sessions"]), 1)

    def test_directory_moved(self):
        moved = self.server.data + ".moved"
        os.rename(self.server.data, moved)
        self.is_noticed()
        os.rename(moved, self.server.data)
        self.assertEqual(self.done(), "done")

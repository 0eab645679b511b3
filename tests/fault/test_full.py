"""A disk that is full, a store that somebody has locked, a directory that cannot be written any more:
runs end with a sentence, their programs are ended, and the server goes on."""

import os
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

from helpers import LIMIT_S, Case, eventually, load, needs_namespace  # noqa: E402
from server import Server  # noqa: E402
from test_runs import processes, tree  # noqa: E402

MOUNTED = 'mount -t tmpfs -o size=%s none "$0" && exec "$@"'


class Full(Case):
    def setUp(self):
        super().setUp()
        needs_namespace()
        self.disk = self.path("disk")
        os.mkdir(self.disk)
        self.server = Server(data=os.path.join(self.disk, "store"),
                             before=["unshare", "-m", "sh", "-c", MOUNTED % "6m", self.disk])
        self.addCleanup(self.server.close)
        self.server.start()
        self.session = self.server.session()

    def inside(self, *argv):
        """In the mount namespace of the server."""
        return subprocess.run(["nsenter", "-t", str(self.server.pid()), "-m", "-r", *argv], text=True,
                              capture_output=True)

    def ok(self):
        return self.server.wait_run(self.server.run(self.session, "true", tool="stat")["uuid"])

    def test_while_a_run_prints(self):
        program = tree(1)
        begun = self.path("begun")
        line = "%s 1 & echo > '%s'; yes 0123456789012345678901234567890123456789" % (program[0], begun)
        run = self.server.run(self.session, line, shell=True, tool="stat", events=["task-clock"])
        # The disk may be full before we see a process.
        self.assertTrue(eventually(lambda: os.path.exists(begun)))
        run = self.server.wait_run(run["uuid"], 60)
        self.assertEqual(run["state"], "failed")
        self.assertRegex(run["error"], "cannot be stored.*(full|space|room)")
        self.assertTrue(eventually(lambda: not processes(program[0])))
        self.assertEqual(self.server.get("/healthz")["status"], "ok")
        # Deleting makes room, and then everything goes on.
        self.server.delete("benchmark/" + run["uuid"])
        self.assertTrue(eventually(lambda: self.ok()["state"] == "done"))

    def fill(self):
        filler = os.path.join(self.disk, "filler")
        self.inside("sh", "-c", "cat /dev/zero > '%s'" % filler)
        return filler

    def test_samples_that_were_not_stored_are_not_claimed(self):
        line = "%s & yes 0123456789012345678901234567890123456789" % " ".join(load("busy", 60000))
        run = self.server.run(self.session, line, shell=True, tool="record",
                              sample={"events": ["cpu-clock"], "frequency": 4999})
        run = self.server.wait_run(run["uuid"], 60)
        self.assertEqual(run["state"], "failed", run)
        self.assertRegex(run["error"], "cannot be stored.*(full|space|room)")
        self.assertEqual(self.server.get("benchmark/%s/flame" % run["uuid"])["samples"], run["samples"])
        if run["ledger"]:
            self.assertEqual(run["ledger"]["samples"], run["samples"])

    def test_downloads(self):
        """They say that there is no room, and are whole again when there is."""
        run = self.server.wait_run(self.server.run(
            self.session, load("busy", 300), tool="both", events=["task-clock"],
            sample={"events": ["cpu-clock"], "frequency": 999})["uuid"])
        self.assertEqual(run["state"], "done", run)
        paths = ["benchmark/%s.%s" % (run["uuid"], suffix)
                 for suffix in ("csv", "jsonl", "h5", "data", "folded", "svg", "html")]
        paths.append("session/%s.h5" % self.session)
        filler = self.fill()
        for path in paths:
            with self.subTest(path):
                answer = self.server.request("GET", path)
                self.assertEqual(answer.status, 507, answer)
                self.assertRegex(answer.message(), "full|space|room")
        self.inside("rm", filler)
        for path in paths:
            with self.subTest(path):
                self.assertEqual(self.server.request("GET", path).status, 200)

    def test_before_a_run(self):
        filler = self.fill()
        answer = self.server.request("POST", "session/" + self.session, {"workload": "true", "tool": "stat"})
        if answer.status == 202:  # there was room for a line
            uuid = answer.json()["uuid"]
            self.assertIn(self.server.wait_run(uuid)["state"], ("failed", "done"))
        else:
            self.assertIn(answer.status, (507, 500))
            self.assertRegex(answer.message(), "full|space|room")
        self.assertEqual(self.server.get("/healthz")["status"], "ok")
        self.inside("rm", filler)
        self.assertEqual(self.ok()["state"], "done")


class Locked(Case):
    def setUp(self):
        super().setUp()
        self.server = Server()
        self.addCleanup(self.server.close)
        self.server.start()
        self.session = self.server.session()

    def test_nothing_is_lost(self):
        """Somebody else writes, for longer than anybody waits for a lock."""
        run = self.server.run(self.session, load("busy", 9000), tool="both", events=["task-clock"],
                              interval=0.01, sample={"events": ["cpu-clock"], "frequency": 1000})
        self.server.wait_state(run["uuid"], "running")
        store = sqlite3.connect(os.path.join(self.server.data, "tacho.db"), isolation_level=None,
                                timeout=LIMIT_S)
        store.execute("BEGIN IMMEDIATE")
        time.sleep(7)
        self.assertEqual(self.server.benchmark(run["uuid"])["state"], "running")
        store.execute("COMMIT")
        store.close()
        run = self.server.wait_run(run["uuid"])
        self.assertEqual(run["state"], "done", run["error"])
        self.assertGreater(run["samples"], 5000)
        self.assertEqual(self.server.get("benchmark/%s/flame" % run["uuid"])["samples"], run["samples"])

"""Collectors that crash, lie or hang end one run with a sentence, and nothing else is hurt."""

import os
import time

from bad_collector import BadServer
from helpers import Case, alive, eventually

SIDE_BY_SIDE = True


class BadCase(Case):
    options = ()

    def setUp(self):
        super().setUp()
        self.server = BadServer(*self.options)
        self.addCleanup(self.server.close)
        self.server.start()
        self.session = self.server.session()

    def run_one(self, what, **plan):
        run = self.server.run(self.session, what, tool="stat", **plan)
        return self.server.wait_run(run["uuid"])

    def assertGoesOn(self):
        self.assertEqual(self.run_one("good")["state"], "done")

    def note_pid(self, run):
        return self.server.benchmark(run["uuid"])["ledger"]["pid"]


class Lies(BadCase):
    def test_what_cannot_be(self):
        for what in ("garbage", "huge", "kind", "json", "chunk", "output", "end"):
            with self.subTest(what):
                run = self.run_one(what)
                self.assertEqual(run["state"], "failed")
                self.assertIn("sent an invalid message", run["error"])
        self.assertGoesOn()


class Crashes(BadCase):
    def test_killed(self):
        run = self.run_one("signal 9")
        self.assertEqual(run["state"], "failed")
        self.assertIn("killed by signal 9 (Killed)", run["error"])
        self.assertGoesOn()

    def test_crash(self):
        run = self.run_one("signal 11")
        self.assertIn("killed by signal 11 (Segmentation fault)", run["error"])
        self.assertGoesOn()

    def test_status(self):
        for what in ("status 3", "early 3"):
            run = self.run_one(what)
            self.assertEqual(run["state"], "failed")
            self.assertIn("ended with status 3", run["error"])
        self.assertGoesOn()

    def test_not_there(self):
        os.unlink(os.path.join(self.server.programs, "tacho"))
        run = self.run_one("good")
        self.assertEqual(run["state"], "failed")
        self.assertIn("cannot run", run["error"])
        self.assertEqual(self.server.get("/healthz")["status"], "ok")

    def test_other_runs_are_not_hurt(self):
        other = self.server.run(self.session, "waits", tool="stat", exclusive=False)
        self.server.wait_state(other["uuid"], "running")
        self.assertEqual(self.run_one("signal 9")["state"], "failed")
        self.assertEqual(self.run_one("garbage")["state"], "failed")
        self.assertEqual(self.server.benchmark(other["uuid"])["state"], "running")
        self.server.post("benchmark/%s/cancel" % other["uuid"])
        self.assertEqual(self.server.wait_run(other["uuid"])["state"], "cancelled")

    def test_workload_of_a_crashed_one_is_ended(self):
        run = self.run_one("orphan")
        self.assertEqual(run["state"], "failed")
        pid = self.note_pid(run)
        self.assertTrue(eventually(lambda: not alive(pid)))

    def test_also_if_the_server_stops_meanwhile(self):
        run = self.run_one("orphan")
        pid = self.note_pid(run)
        self.assertEqual(self.server.stop(), 0)
        self.assertFalse(alive(pid))

    def test_what_a_program_leaves_behind_stays(self):
        run = self.run_one("daemon")
        self.assertEqual(run["state"], "done")
        pid = self.note_pid(run)
        self.run_one("signal 9")
        time.sleep(0.3)
        self.assertTrue(alive(pid))
        os.kill(pid, 9)
        self.assertGoesOn()


class Hangs(BadCase):
    def test_closed_its_channel(self):
        run = self.run_one("silent")
        self.assertEqual(run["state"], "failed")
        self.assertIn("killed by signal 9", run["error"])
        self.assertGoesOn()

    def test_does_not_go(self):
        self.assertEqual(self.run_one("stays")["state"], "done")
        self.assertGoesOn()


class Output(BadCase):
    options = ("--output-max", "100K")

    def test_is_bounded(self):
        run = self.run_one("prints 5000")
        self.assertEqual(run["state"], "done")
        self.assertEqual(len(self.server.get_bytes("benchmark/%s.log" % run["uuid"])), 100 * 1024)

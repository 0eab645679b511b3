"""kill -9 of the server at random moments while runs go on, come and are cancelled.

After each: the server starts again, the store is whole, everything that an answer had shown is still
there, and no program of a run is left. TACHO_KILLS says how often (8), TACHO_SEED chooses other moments."""

import http.client
import os
import signal
import sqlite3
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

from helpers import Case, compiled, dice, eventually  # noqa: E402
from server import ENDED, Server  # noqa: E402
from test_runs import TREE_C, processes  # noqa: E402

KILLS = int(os.environ.get("TACHO_KILLS", "8"))


class Seen:
    """The most that answers have shown of each run."""

    def __init__(self):
        self.runs, self.sessions = {}, set()

    def look(self, server):
        for session in list(self.sessions):
            for run in server.get("session/%s?limit=200" % session)["runs"]:
                self.note(run)

    def note(self, run):
        before = self.runs.get(run["uuid"], {"state": "queued", "samples": 0, "bytes": 0})
        for name in ("samples", "bytes"):
            before[name] = max(before[name], run[name] or 0)
        before["state"] = run["state"]
        self.runs[run["uuid"]] = before


class Kill(Case):
    def test_at_random_moments(self):
        self.random = dice("%d kills" % KILLS)
        self.program = compiled("killed", TREE_C)
        self.seen = Seen()
        self.server = Server()
        self.addCleanup(self.server.close)
        self.server.start()
        self.seen.sessions.add(self.server.session("killed"))
        for number in range(KILLS):
            with self.subTest(number):
                self.round()
        states = [r["state"] for r in self.seen.runs.values()]
        print("# %d runs: %s" % (len(states), {s: states.count(s) for s in sorted(set(states))}))
        self.assertIn("interrupted", states)
        self.assertGreater(max(r["bytes"] for r in self.seen.runs.values()), 0)

    def work(self, stop):
        """What clients do, until the server is gone."""
        session = next(iter(self.seen.sessions))
        plans = [{"workload": [self.program, "2"], "tool": "both", "events": ["task-clock"],
                  "interval": 0.01, "sample": {"events": ["cpu-clock"], "frequency": 4999}},
                 {"workload": [self.program, "1"], "tool": "stat", "events": ["task-clock"],
                  "exclusive": False, "interval": 0.005},
                 {"workload": ["sh", "-c", "echo some output"], "tool": "stat", "events": ["task-clock"]}]
        mine = []
        try:
            while not stop.is_set():
                choice = self.random.random()
                if choice < 0.4 and len(mine) < 12:
                    run = self.server.post("session/" + session, self.random.choice(plans))
                    self.seen.note(run)
                    mine.append(run["uuid"])
                elif choice < 0.6 and mine:
                    self.server.request("POST", "benchmark/%s/cancel" %
                                        mine.pop(self.random.randrange(len(mine))))
                else:
                    self.seen.look(self.server)
                time.sleep(0.02)
        except (OSError, AssertionError, ValueError, http.client.HTTPException):
            if not stop.is_set():
                raise

    def round(self):
        stop = threading.Event()
        worker = threading.Thread(target=self.work, args=(stop,))
        worker.start()
        time.sleep(self.random.uniform(0.05, 1.5))
        stop.set()
        self.server.kill9()
        worker.join()
        self.assertTrue(eventually(lambda: not processes(self.program)),
                        "programs are left: %s" % processes(self.program))
        self.check_store()
        self.server.start()
        self.check_seen()
        self.end_all()

    def check_store(self):
        store = sqlite3.connect("file:%s?mode=ro" % os.path.join(self.server.data, "tacho.db"), uri=True)
        self.assertEqual(store.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        self.assertEqual(store.execute("PRAGMA foreign_key_check").fetchall(), [])
        store.close()

    def check_seen(self):
        for uuid, before in self.seen.runs.items():
            run = self.server.benchmark(uuid)
            self.assertGreaterEqual(run["samples"], before["samples"], uuid)
            # Merged chunks are smaller, but they are there.
            self.assertGreaterEqual(run["bytes"] > 0, before["bytes"] > 0, uuid)
            if before["state"] in ENDED:
                self.assertEqual(run["state"], before["state"], uuid)
            elif before["state"] == "running":
                self.assertIn(run["state"], ("interrupted", "cancelled", "done"), uuid)
            if run["samples"]:
                flame = self.server.get("benchmark/%s/flame" % uuid)
                # A run that goes on may have got more since.
                self.assertGreaterEqual(flame["samples"], run["samples"], uuid)
                if run["state"] in ENDED:
                    self.assertEqual(flame["samples"], run["samples"], uuid)
        self.seen.look(self.server)

    def end_all(self):
        queue = self.server.get("queue")
        for run in queue["queued"] + queue["running"]:
            self.server.request("POST", "benchmark/%s/cancel" % run["uuid"])
        self.assertTrue(eventually(lambda: not self.server.get("queue")["running"]))
        self.seen.look(self.server)


def parent_of(pid):
    with open("/proc/%d/stat" % pid) as f:
        return int(f.read().rpartition(")")[2].split()[1])


class KillAll(Case):
    """kill -9 of the server and of both processes between it and a workload, at the same moment."""

    def test_orphans_are_ended_at_the_next_start(self):
        program = compiled("orphaned", TREE_C)
        server = Server()
        self.addCleanup(server.close)
        server.start()
        session = server.session()
        done = server.run(session, ["sh", "-c", "%s 0 >/dev/null 2>&1 &" % program], tool="stat",
                          events=["task-clock"])["uuid"]
        server.wait_run(done)
        left_alone = processes(program)
        self.assertEqual(len(left_alone), 1)
        self.addCleanup(os.kill, left_alone[0], signal.SIGKILL)
        run = server.run(session, [program, "3"], tool="stat", events=["task-clock"])["uuid"]
        self.assertTrue(eventually(lambda: len(processes(program)) == 5))
        workload = next(pid for pid in processes(program)
                        if pid not in left_alone and parent_of(pid) not in processes(program))
        above = [parent_of(workload)]
        while above[-1] != server.pid():
            above.append(parent_of(above[-1]))
        self.assertEqual(len(above), 3)
        # Stopped first, so that none of them notices that another one is gone.
        for sig in (signal.SIGSTOP, signal.SIGKILL):
            for pid in above:
                os.kill(pid, sig)
        server.end()
        self.assertEqual(len(processes(program)), 5)
        server.start()
        # What a finished run has left behind is not ours to end.
        self.assertTrue(eventually(lambda: processes(program) == left_alone))
        self.assertEqual(server.benchmark(run)["state"], "interrupted")
        self.assertEqual(server.benchmark(done)["state"], "done")

"""Runs: the queue and its order, exclusive and shared ones, cancelling, limits, what a restart leaves."""

import os
import signal
import time

from helpers import alive, compiled, eventually, load, needs_no_pmu, parent_of, signal_set
from server import ServerCase

SIDE_BY_SIDE = True

# Runs until it is told to end; children that do the same, each in a session of its own.
TREE_C = r"""
#include <stdlib.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int children = argc > 1 ? atoi(argv[1]) : 0;

	alarm(60);
	for (int i = 0; i < children; i++)
		if (!fork()) {
			setsid();
			alarm(60);
			for (;;)
				;
		}
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}
"""


def tree(children):
    return [compiled("tree", TREE_C), str(children)]


def processes(name):
    """Numbers of the live processes whose program is this."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.path.samefile("/proc/%s/exe" % pid, name):
                if alive(int(pid)):
                    found.append(int(pid))
        except OSError:
            pass
    return found


class RunCase(ServerCase):
    def setUp(self):
        super().setUp()
        self.session = self.server.session()

    def submit(self, workload, **plan):
        plan.setdefault("tool", "stat")
        plan.setdefault("events", ["task-clock"])
        return self.server.run(self.session, workload, **plan)["uuid"]

    def state(self, uuid):
        return self.server.benchmark(uuid)["state"]

    def queue(self):
        queue = self.server.get("queue")
        return [r["uuid"] for r in queue["running"]], [r["uuid"] for r in queue["queued"]]

    def cancel(self, uuid):
        self.server.post("benchmark/%s/cancel" % uuid, status=202)
        return self.server.wait_run(uuid)


class Ends(RunCase):
    def test_done(self):
        run = self.server.wait_run(self.submit(load("busy", 100)))
        self.assertEqual((run["state"], run["exit_status"], run["error"]), ("done", 0, None))
        self.assertTrue(run["started_at"] <= run["ended_at"])
        self.assertEqual(run["user"], "admin")

    def test_lasts_as_long_as_the_program(self):
        # The run ends before the counters are read for the last time, and thus before its functions are named,
        # which takes longer than it ran.
        uuid = self.submit(load("busy", 30), tool="both", interval=0.01)
        run = self.server.wait_run(uuid)
        measured = self.server.get("benchmark/%s/timeline?pixels=1" % uuid)["to_ns"] / 1e9
        self.assertGreater(run["duration_s"], 0.03)
        self.assertLessEqual(run["duration_s"], measured)

    def test_status_of_the_program(self):
        run = self.server.wait_run(self.submit(["sh", "-c", "exit 3"]))
        self.assertEqual((run["state"], run["exit_status"]), ("done", 3))

    def test_signal_of_the_program(self):
        run = self.server.wait_run(self.submit(["sh", "-c", "kill -SEGV $$"]))
        self.assertEqual((run["state"], run["signal"]), ("done", signal.SIGSEGV))

    def test_program_is_not_there(self):
        run = self.server.wait_run(self.submit("/nowhere/at/all"))
        self.assertEqual(run["state"], "failed")
        self.assertIn("/nowhere/at/all", run["error"])

    def test_unknown_event(self):
        answer = self.server.request("POST", "session/" + self.session,
                                     {"workload": "true", "tool": "stat", "events": ["nonsense"]})
        if answer.status == 202:
            run = self.server.wait_run(answer.json()["uuid"])
            self.assertEqual(run["state"], "failed")
            self.assertIn("nonsense", run["error"])
        else:
            self.assertEqual(answer.status, 400)
            self.assertIn("nonsense", answer.message())

    def test_an_event_that_was_named_is_not_replaced(self):
        needs_no_pmu()
        plan = {"workload": "true", "tool": "record", "sample": {"events": ["cycles"]}}
        run = self.server.wait_run(self.server.post("session/" + self.session, plan, status=202)["uuid"])
        self.assertEqual(run["state"], "failed")
        self.assertIn("cannot record 'cycles': this virtual machine has no PMU", run["error"])

    def test_timeout(self):
        run = self.server.wait_run(self.submit("sleep 60", timeout=0.5))
        self.assertEqual(run["state"], "failed")
        self.assertIn("0.5 s", run["error"])

    def test_output_is_kept(self):
        run = self.server.wait_run(self.submit(["sh", "-c", "echo out; echo err >&2"]))
        text = self.server.get_bytes("benchmark/%s.log" % run["uuid"]).decode()
        self.assertIn("out\n", text)
        self.assertIn("err\n", text)

    def test_server_settings_do_not_reach_programs(self):
        run = self.server.wait_run(self.submit("env", env={"MINE": "7"}))
        text = self.server.get_bytes("benchmark/%s.log" % run["uuid"]).decode()
        self.assertIn("MINE=7\n", text)
        self.assertNotIn("TACHO_", text)


class Cancel(RunCase):
    def test_queued(self):
        first, second = self.submit("sleep 60"), self.submit("sleep 60")
        self.server.wait_state(first, "running")
        self.assertEqual(self.cancel(second)["state"], "cancelled")
        self.assertIsNone(self.server.benchmark(second)["started_at"])
        self.assertEqual(self.queue(), ([first], []))
        self.cancel(first)

    def test_running_with_all_its_children(self):
        program = tree(5)
        uuid = self.submit(program)
        self.assertTrue(eventually(lambda: len(processes(program[0])) == 6))
        self.assertEqual(self.cancel(uuid)["state"], "cancelled")
        self.assertEqual(processes(program[0]), [])

    def test_who_does_not_listen_is_killed(self):
        uuid = self.submit(load("stubborn"))
        self.assertTrue(eventually(lambda: any(signal_set(pid, "SigIgn", signal.SIGTERM)
                                               for pid in processes(load()[0]))))
        self.assertEqual(self.cancel(uuid)["state"], "cancelled")
        self.assertEqual(processes(load()[0]), [])

    def test_ended(self):
        uuid = self.submit("true")
        self.server.wait_run(uuid)
        answer = self.server.request("POST", "benchmark/%s/cancel" % uuid)
        self.assertEqual(answer.status, 409)
        self.assertIn("done", answer.message())

    def test_delete_while_it_runs(self):
        program = tree(1)
        uuid = self.submit(program)
        self.assertTrue(eventually(lambda: len(processes(program[0])) == 2))
        self.server.delete("benchmark/" + uuid)
        self.assertEqual(processes(program[0]), [])
        self.assertEqual(self.server.request("GET", "benchmark/" + uuid).status, 404)
        self.assertEqual(self.queue(), ([], []))

    def test_delete_the_session(self):
        program = tree(0)
        first, second = self.submit(program), self.submit(program)
        self.assertTrue(eventually(lambda: processes(program[0])))
        self.server.delete("session/" + self.session)
        self.assertEqual(processes(program[0]), [])
        self.assertEqual(self.queue(), ([], []))
        for uuid in (first, second):
            self.assertEqual(self.server.request("GET", "benchmark/" + uuid).status, 404)


class Queue(RunCase):
    def test_one_after_the_other(self):
        path = self.path("order")
        uuids = [self.submit(["sh", "-c", "echo %d >> %s" % (i, path)]) for i in range(5)]
        for uuid in uuids:
            self.assertEqual(self.server.wait_run(uuid)["state"], "done")
        with open(path) as text:
            self.assertEqual(text.read().split(), list("01234"))

    def test_order_is_changed(self):
        path = self.path("order")
        first = self.submit("sleep 60")
        self.server.wait_state(first, "running")
        a, b, c = [self.submit(["sh", "-c", "echo %s >> %s" % (x, path)]) for x in "abc"]
        self.assertEqual(self.queue(), ([first], [a, b, c]))
        self.server.patch("queue", {"run": c, "before": a})
        self.assertEqual(self.queue()[1], [c, a, b])
        self.server.patch("queue", {"run": a, "before": None})
        self.assertEqual(self.queue()[1], [c, b, a])
        # As often as one likes.
        for _ in range(70):
            self.server.patch("queue", {"run": a, "before": b})
            self.server.patch("queue", {"run": b, "before": a})
        self.assertEqual(self.queue()[1], [c, b, a])
        self.assertEqual(self.server.request("PATCH", "queue", {"run": first, "before": None}).status, 409)
        self.cancel(first)
        for uuid in (a, b, c):
            self.server.wait_run(uuid)
        with open(path) as text:
            self.assertEqual(text.read().split(), ["c", "b", "a"])

    def test_new_ones_come_last_after_moves(self):
        first = self.submit("sleep 60")
        self.server.wait_state(first, "running")
        # b comes first after the restart, and keeps the others waiting.
        a, b = self.submit("true"), self.submit("sleep 60")
        self.server.patch("queue", {"run": a, "before": None})
        c = self.submit("true")
        self.assertEqual(self.queue()[1], [b, a, c])
        self.server.restart()
        self.assertEqual(self.queue()[1][-1:], [c])
        self.assertEqual(self.state(first), "interrupted")
        self.cancel(b)

    def test_shared_ones_do_not_wait(self):
        first = self.submit("sleep 60")
        second = self.submit("sleep 60")
        shared = self.submit("sleep 60", exclusive=False)
        self.server.wait_state(shared, "running")
        self.assertEqual(self.state(second), "queued")
        self.cancel(shared)
        self.cancel(second)
        self.cancel(first)

    def test_attached_ones_do_not_block(self):
        child = self.start(["sleep", "60"])
        watched = self.submit(None, pids=[child.pid])
        self.server.wait_state(watched, "running")
        beside = self.server.wait_run(self.submit("true"))
        self.assertEqual(beside["state"], "done")
        self.assertEqual([o["description"] for o in beside["ledger"]["overlap"]], ["process %d" % child.pid])
        self.assertEqual(self.state(watched), "running")
        self.assertEqual(self.cancel(watched)["state"], "cancelled")
        self.assertIsNone(child.poll())

    def test_overlap_is_in_both_ledgers(self):
        shared = self.submit("sleep 60", exclusive=False)
        # Its clock runs, so that all of the other's time is inside.
        self.assertTrue(eventually(lambda: self.server.benchmark(shared).get("environment")))
        inside = self.submit("sleep 0.3")
        self.server.wait_run(inside)
        self.cancel(shared)
        outer = self.server.benchmark(shared)["ledger"]["overlap"]
        inner = self.server.benchmark(inside)["ledger"]["overlap"]
        self.assertEqual([o["run"] for o in outer], [inside])
        self.assertEqual([o["run"] for o in inner], [shared])
        # The inner one's clock starts when its program does, which takes at least so long.
        self.assertGreaterEqual(outer[0]["to_ns"] - outer[0]["from_ns"], inner[0]["to_ns"])
        self.assertGreaterEqual(inner[0]["to_ns"], 0.3e9)

    def test_alone_is_alone(self):
        a, b = self.submit("sleep 0.1"), self.submit("sleep 0.1")
        for uuid in (a, b):
            self.assertFalse(self.server.wait_run(uuid)["ledger"].get("overlap"))

    def test_progress_is_told_all_the_time(self):
        """Also between waiting and running."""
        for _ in range(20):
            # It runs until it is cancelled: a run that has ended between two looks has no progress.
            uuid, state = self.submit("sleep 60"), "queued"
            while state == "queued":
                run = self.server.benchmark(uuid)
                state = run["state"]
                self.assertIsNotNone(run["progress"], state)
            self.cancel(uuid)

    def test_progress(self):
        """How it counts down is in tests/unit/test_runs_queue.c, by a clock of its own."""
        # Short while the file is there; else it runs until it is ended.
        command = ["sh", "-c", "sleep 0.2; while [ ! -e '%s' ]; do sleep 0.1; done" % self.write("enough", "")]
        took = [self.server.wait_run(self.submit(command))["duration_s"] for _ in range(2)]
        os.unlink(self.path("enough"))
        a, b = self.submit(command), self.submit(command)
        c = self.submit("sleep 4")
        running = self.server.wait_state(a, "running")["progress"]
        waiting = self.server.benchmark(b)["progress"]
        # The median of both; it is kept in whole milliseconds.
        self.assertAlmostEqual(running["expected_s"], max(took), delta=0.0011)
        self.assertLessEqual(running["eta_s"], running["expected_s"])
        self.assertEqual(waiting["place"], 1)
        self.assertLessEqual(waiting["starts_in_s"], running["expected_s"])
        self.assertAlmostEqual(waiting["eta_s"] - waiting["starts_in_s"], running["expected_s"], places=3)
        self.assertEqual(self.server.benchmark(c)["progress"]["place"], 2)
        for uuid in (a, b, c):
            self.cancel(uuid)


class Limits(RunCase):
    options = ("--queue-max", "2", "--running-max", "2")

    def test_queue_is_full(self):
        first = self.submit("sleep 60")
        self.server.wait_state(first, "running")
        waiting = [self.submit("true"), self.submit("true")]
        answer = self.server.request("POST", "session/" + self.session, {"workload": "true", "tool": "stat"})
        self.assertIn(answer.status, (409, 429, 503))
        self.assertIn("queue-max", answer.message())
        self.cancel(first)
        for uuid in waiting:
            self.server.wait_run(uuid)

    def test_running_at_the_same_time(self):
        shared = []
        for _ in range(2):
            shared.append(self.submit("sleep 60", exclusive=False))
            self.server.wait_state(shared[-1], "running")
        shared.append(self.submit("sleep 60", exclusive=False))
        time.sleep(0.2)
        self.assertEqual(self.state(shared[2]), "queued")
        # Shared ones must not block the others.
        self.assertEqual(self.server.wait_run(self.submit("true"))["state"], "done")
        self.cancel(shared[0])
        self.server.wait_state(shared[2], "running")
        self.cancel(shared[1])
        self.cancel(shared[2])


class Quota(RunCase):
    options = ("--quota", "1K")

    def test_says_so(self):
        answer = self.server.request("POST", "session/" + self.session, {"workload": "true", "tool": "stat"})
        self.assertIn(answer.status, (413, 507, 409))
        self.assertIn("--quota", answer.message())


class Restart(RunCase):
    def test_queue_is_taken_up(self):
        path = self.path("order")
        first = self.submit("sleep 60")
        rest = [self.submit(["sh", "-c", "echo %s >> %s" % (x, path)]) for x in "abc"]
        self.server.wait_state(first, "running")
        self.assertEqual(self.server.stop(), 0)
        self.server.start()
        run = self.server.benchmark(first)
        self.assertEqual(run["state"], "interrupted")
        self.assertIn("stopped", run["error"])
        for uuid in rest:
            self.assertEqual(self.server.wait_run(uuid)["state"], "done")
        with open(path) as text:
            self.assertEqual(text.read().split(), ["a", "b", "c"])

    def test_stop_ends_the_program(self):
        program = tree(2)
        self.submit(program)
        self.assertTrue(eventually(lambda: len(processes(program[0])) == 3))
        self.assertEqual(self.server.stop(), 0)
        self.assertEqual(processes(program[0]), [])

    def test_killed(self):
        program = tree(2)
        first = self.submit(program, events=["task-clock"], interval=0.01)
        second = self.submit("true")
        self.assertTrue(eventually(lambda: len(processes(program[0])) == 3))
        self.assertTrue(eventually(lambda: self.server.benchmark(first)["bytes"] > 0))
        self.server.kill9()
        self.assertTrue(eventually(lambda: not processes(program[0])))
        self.server.start()
        run = self.server.benchmark(first)
        self.assertEqual(run["state"], "interrupted")
        self.assertGreater(run["bytes"], 0)
        self.assertTrue(run["ended_at"] >= run["started_at"])
        self.assertEqual(self.server.wait_run(second)["state"], "done")

    def test_nothing_is_left_in_the_directory(self):
        self.server.wait_run(self.submit("true"))
        self.server.stop()
        for name in ("spill", "upload"):
            with open(os.path.join(self.server.data, name, "left"), "w") as out:
                out.write("x")
        self.server.start()
        for name in ("spill", "upload", "raw"):
            self.assertEqual(os.listdir(os.path.join(self.server.data, name)), [])

    def test_a_recording_of_an_unknown_run_is_set_aside(self):
        self.server.stop()
        name = "01234567-89ab-4def-8123-456789abcdef.data"
        with open(os.path.join(self.server.data, "raw", name), "w") as out:
            out.write("x")
        os.utime(os.path.join(self.server.data, "raw", name), (1700000000, 1700000000))
        self.server.start()
        self.assertEqual(os.listdir(os.path.join(self.server.data, "raw")), [])
        lost = os.path.join(self.server.data, "lost")
        self.assertEqual(os.listdir(lost), ["20231114-221320-" + name])
        self.assertIn(lost, "".join(self.server.errors))
        self.assertIn("import", "".join(self.server.errors))
        self.assertIn(lost, self.server.get("me")["server"]["warnings"][0])
        self.server.restart()
        self.assertEqual(self.server.get("me")["server"]["warnings"], [])


class CollectorKilled(RunCase):
    def test_ends_one_run(self):
        program = tree(2)
        uuid = self.submit(program, tool="record", events=["cpu-clock"])
        other = self.submit("sleep 60", exclusive=False)
        self.assertTrue(eventually(lambda: len(processes(program[0])) == 3))
        self.server.wait_state(other, "running")
        os.kill(self.collector_of(program[0]), signal.SIGKILL)
        run = self.server.wait_run(uuid)
        self.assertEqual(run["state"], "failed")
        self.assertIn("killed by signal 9", run["error"])
        self.assertTrue(eventually(lambda: not processes(program[0])))
        self.assertEqual(self.state(other), "running")
        self.cancel(other)
        self.assertEqual(self.server.wait_run(self.submit("true"))["state"], "done")

    def collector_of(self, program):
        """The child of the server that the program descends from."""
        pid = min(processes(program))
        while True:
            parent = parent_of(pid)
            if parent == self.server.pid():
                return pid
            self.assertGreater(parent, 1)
            pid = parent


class Import(RunCase):
    def setUp(self):
        super().setUp()
        self.file = self.path("perf.data")
        result = self.tacho("record", "-o", self.file, "-e", "cpu-clock", "--", *load("busy", 300))
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.file, "rb") as data:
            self.bytes = data.read()

    def upload(self, **query):
        return self.server.post("import", self.bytes, status=202, query=dict(query, session=self.session))["uuid"]

    def raw(self):
        return os.listdir(os.path.join(self.server.data, "raw"))

    def test_as_a_run(self):
        run = self.server.wait_run(self.upload(name="mine.data", keep_raw="false"))
        self.assertEqual((run["state"], run["description"]), ("done", "mine.data"), run["error"])
        self.assertGreater(run["samples"], 100)
        self.assertEqual(self.raw(), [])

    def test_the_file_is_kept(self):
        run = self.server.wait_run(self.upload(name="mine.data", keep_raw="true"))
        self.assertEqual(run["state"], "done", run["error"])
        self.assertEqual(self.raw(), [run["uuid"] + ".data"])
        self.assertEqual(self.server.get_bytes("benchmark/%s.data" % run["uuid"]), self.bytes)
        self.server.delete("benchmark/" + run["uuid"])
        self.assertEqual(self.raw(), [])

    def test_notes_are_on_the_clock_of_the_file(self):
        """What is said of a file is said of all of it: when it was imported is no time of the run."""
        self.bytes = self.bytes[:len(self.bytes) * 3 // 4]
        run = self.server.wait_run(self.upload(name="cut.data", keep_raw="false"))
        notes = self.server.get("benchmark/%s/ledger" % run["uuid"])["notes"]
        self.assertTrue(notes, run)
        self.assertEqual({note["ns"] for note in notes}, {0}, notes)
        marks = self.server.get("benchmark/%s/timeline?pixels=10" % run["uuid"])["marks"]
        self.assertEqual([m["text"] for m in marks if m["kind"] == "note"], [note["text"] for note in notes])

    def test_no_recording(self):
        self.bytes = b"this is no recording" * 100
        run = self.server.wait_run(self.upload(name="x", keep_raw="false"))
        self.assertEqual(run["state"], "failed")
        self.assertTrue(run["error"])
        self.assertEqual(self.raw(), [])

    def test_killed_meanwhile(self):
        """It waits, or was read in part: after a restart it is done or interrupted, and no file is left."""
        uuid = self.upload(name="x", keep_raw="false")
        self.server.kill9()
        self.server.start()
        run = self.server.wait_run(uuid)
        self.assertIn(run["state"], ("done", "interrupted"))
        self.assertEqual(self.raw(), [])


class KeptRecording(RunCase):
    def test_of_a_run(self):
        uuid = self.submit(load("busy", 300), tool="record", events=["cpu-clock"], keep_raw=True)
        run = self.server.wait_run(uuid)
        self.assertEqual((run["state"], run["raw"]), ("done", True), run["error"])
        data = self.server.get_bytes("benchmark/%s.data" % uuid)
        with open(os.path.join(self.server.data, "raw", uuid + ".data"), "rb") as kept:
            self.assertEqual(kept.read(), data)
        path = self.write("got.data", data)
        self.assertEqual(self.tacho("info", path).returncode, 0)

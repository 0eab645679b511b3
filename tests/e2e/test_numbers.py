"""What the server says of a program whose work is known: counters, samples, losses, and all of it beside
what tacho's other commands say."""

import bisect
import csv
import io
import json
import os
import signal
import statistics
import struct
import threading
import time
import unittest

from helpers import alive, eventually, load, needs_no_pmu, needs_system_wide, online_cpus, parent_of, state_of
from server import ServerCase
from test_live import Client
from test_stages import pair

PIXELS = (1, 7, 100, 2000, 20000)


class Numbers(ServerCase):
    def done(self, workload=None, **plan):
        run = self.server.wait_run(self.server.run(self.server.session(), workload, **plan)["uuid"])
        self.assertEqual(run["state"], "done", json.dumps(run)[:2000])
        return run

    def ask(self, run, question, **query):
        return self.server.get("benchmark/%s/%s" % (run["uuid"], question), query)

    def csv(self, run):
        """The rows of the table of counters."""
        text = self.server.get_bytes("benchmark/%s.csv" % run["uuid"]).decode()
        return list(csv.DictReader(io.StringIO(text)))

    def totals(self, run, **query):
        answer = self.ask(run, "timeline", **dict({"pixels": 1}, **query))
        return {c["name"]: sum(c["sum"]) * c["scale"] for c in answer["counters"]}


class Counters(Numbers):
    EVENTS = ["task-clock", "page-faults", "context-switches"]

    def test_totals_at_every_interval_and_resolution(self):
        for interval in (0.001, 0.01, 0.1, 1):
            run = self.done(load("steps", 60, 100, 50), tool="stat", events=self.EVENTS, interval=interval)
            whole = self.totals(run)
            # What it does by itself, and what starting a program takes.
            self.assertGreaterEqual(whole["page-faults"], 3000)
            self.assertLess(whole["page-faults"], 3400)
            self.assertGreaterEqual(whole["context-switches"], 50)
            rows = self.csv(run)
            self.assertEqual(sum(int(r["page-faults"]) for r in rows), round(whole["page-faults"]))
            self.assertAlmostEqual(sum(float(r["task-clock [msec]"]) for r in rows), whole["task-clock"], delta=1e-3)
            for pixels in PIXELS:
                answer = self.ask(run, "timeline", pixels=pixels)
                width_s = (answer["to_ns"] - answer["from_ns"]) / pixels / 1e9
                for c in answer["counters"]:
                    total = whole[c["name"]]
                    self.assertAlmostEqual(sum(c["sum"]) * c["scale"], total, delta=total * 1e-5 + 1e-3)
                    if None not in c["mean"]:
                        self.assertAlmostEqual(sum(c["mean"]) * width_s * c["scale"], total,
                                               delta=total * 1e-5 + 1e-3)

    def test_as_the_command_counts(self):
        out = self.tacho("stat", "-x,", "-e", "page-faults", "--", *load("pages", 5000)).stderr
        counted = int(next(line.split(",")[0] for line in out.splitlines() if "page-faults" in line))
        run = self.done(load("pages", 5000), tool="stat", events=["page-faults"])
        self.assertAlmostEqual(self.totals(run)["page-faults"], counted, delta=100)

    def test_shorter_than_an_interval(self):
        run = self.done(load("pages", 300), tool="stat", events=self.EVENTS, interval=1)
        self.assertGreaterEqual(self.totals(run)["page-faults"], 300)

    def test_children(self):
        run = self.done(load("forks", 20, 200), tool="stat", events=self.EVENTS, interval=0.01)
        self.assertGreaterEqual(self.totals(run)["page-faults"], 4000)

    def test_what_cannot_be_counted(self):
        needs_no_pmu()
        run = self.done(load("busy", 200), tool="both", events=["page-faults", "cycles"], interval=0.01,
                        sample={"events": ["cpu-clock"], "frequency": 499})
        opened = next(e for e in run["opened_events"] if e["name"] == "cycles")
        self.assertEqual(opened["supported"], False)
        answer = self.ask(run, "timeline", pixels=3, samples=1)
        self.assertEqual([c["name"] for c in answer["counters"]], ["page-faults"])
        # Nor are counted events those of samples, none of which there were.
        self.assertEqual([s["event"] for s in answer["samples"]], ["cpu-clock"])
        self.assertEqual(self.ask(run, "points")["events"], ["cpu-clock"])
        for event in ("cycles", "page-faults"):
            refused = self.server.request("GET", "benchmark/%s/flame" % run["uuid"], query={"event": event})
            self.assertEqual(refused.status, 400)
            self.assertIn("no samples", refused.message())
        shown = self.tacho("show", run["uuid"], "--server", "%s/?token=%s" % (self.server.url, self.server.token)).stdout
        line = next(line for line in shown.splitlines() if "<not supported>" in line)
        self.assertIn("cycles", line)


def stat_recording(rounds):
    """As `perf stat record` writes it to a pipe: (ms, value, enabled, running), all since the start."""
    attr = struct.pack("<IIQ", 0, 128, 0).ljust(128, b"\0")
    records = [struct.pack("<IHH", 64, 0, 8 + 128 + 8) + attr + struct.pack("<Q", 1)]
    for ms, value, enabled, running in rounds:
        records.append(struct.pack("<IHHQIIQQQ", 76, 0, 48, 1, 0, 0, value, enabled, running))
        records.append(struct.pack("<IHHQQ", 77, 0, 24, 0, ms * 1_000_000))
    return b"PERFILE2" + struct.pack("<Q", 16) + b"".join(records)


class Multiplexed(Numbers):
    """Counters that take turns; no machine with such is needed."""

    def imported(self, rounds):
        run = self.server.post("import?name=turns", stat_recording(rounds), status=202)
        run = self.server.wait_run(run["uuid"])
        self.assertEqual(run["state"], "done", run)
        return run, self.ask(run, "timeline", pixels=len(rounds))["counters"][0]

    def test_turns_add_up(self):
        """On the CPU every fourth millisecond: four times what was seen is what there was."""
        ms = 1_000_000
        rounds = [(i, 1000 * (i // 4), i * ms, i // 4 * ms) for i in range(1, 401)]
        run, counter = self.imported(rounds)
        self.assertAlmostEqual(sum(counter["sum"]), 400_000, delta=1)
        self.assertEqual(set(counter["running_ppm"]), {250_000})
        for mean in counter["mean"]:
            self.assertAlmostEqual(mean, 1_000_000, delta=1)
        self.assertEqual(run["ledger"]["multiplexed"][0]["running_ppm"], 250_000)

    def test_who_is_away_leaves_a_gap(self):
        """Half a second without a turn is not made up."""
        ms = 1_000_000
        rounds = [(i, 1000 * min(i, 100), i * ms, min(i, 100) * ms) for i in range(1, 601)]
        rounds += [(600 + i, 100_000 + 1000 * i, (600 + i) * ms, (100 + i) * ms) for i in range(1, 101)]
        _, counter = self.imported(rounds)
        self.assertGreaterEqual(counter["mean"][100:600].count(None), 400)
        self.assertEqual(counter["mean"][:99].count(None) + counter["mean"][601:].count(None), 0)
        self.assertLess(sum(counter["sum"]), 301_000)


class Samples(Numbers):
    SAMPLE = {"events": ["cpu-clock", "page-faults"], "frequency": 1997, "callgraph": "fp"}

    def test_one_clock(self):
        """Busy and idle by turns: counters and samples rise and fall at the same time."""
        run = self.server.run(self.server.session(), ["python3", "-c", """
import os, sys, time
while not os.path.exists(sys.argv[1]):
    end = time.process_time() + 0.3
    while time.process_time() < end: sum(range(500))
    time.sleep(0.4)
""", self.path("enough")], tool="both", events=["task-clock"], interval=0.01,
                              sample={"events": ["cpu-clock"], "frequency": 1997})
        self.server.wait_state(run["uuid"], "running")

        # However long an interval was, because whoever reads the counter was held up.
        def enough():
            used = [float(row["task-clock [msec]"] or 0) for row in self.csv(run)]
            return sum(ms < 0.5 for ms in used) > 100 and sum(ms > 5 for ms in used) > 100
        self.assertTrue(eventually(enough))
        self.write("enough", "")
        run = self.server.wait_run(run["uuid"])
        self.assertEqual(run["state"], "done", json.dumps(run)[:2000])
        points = sorted(self.ask(run, "points", event="cpu-clock", max=200000)["t"])
        self.assertEqual(len(points), run["samples"])
        intervals, sampled = [], 0
        for row in self.csv(run):
            if not row["task-clock [msec]"]:
                continue  # a mark behind the last reading
            until = bisect.bisect_right(points, round(float(row["time_s"]) * 1e9))
            intervals.append((float(row["task-clock [msec]"]), until - sampled))
            sampled = until
        per_ms = statistics.median(samples / ms for ms, samples in intervals if ms > 5)
        apart = [(ms, samples) for ms, samples in intervals if abs(samples / per_ms - ms) > 3 + 0.1 * ms]
        # If one clock were later than the other by 50 ms, 10 of the 70 intervals of a turn would be apart. One that
        # is read by somebody who is held up between asking for the time and for the counter can be, and the next.
        self.assertLess(len(apart), 0.05 * len(intervals), apart)

    def test_raw_and_made_recordings_say_the_same(self):
        for keep_raw in (True, False):
            run = self.done(pair(1200), tool="record", keep_raw=keep_raw, sample=self.SAMPLE)
            path = os.path.join(self.home, "run.data")
            with open(path, "wb") as out:
                out.write(self.server.get_bytes("benchmark/%s.data" % run["uuid"]))
            sections = json.loads(self.tacho("report", "--json", "--sort", "sym", "-i", path).stdout)["sections"]
            self.assertEqual({s["event"] for s in sections}, {"cpu-clock", "page-faults"})
            for section in sections:
                theirs, ours = self.by_name(section["entries"], "symbol"), self.by_name(
                    self.ask(run, "functions", event=section["event"], limit=1000)["functions"], "name")
                # Code without a name is called after its module here ("[libc.so.6]"), and by its address there
                # ("libc.so.6+0x27249"): how much there is depends on whether debug files are installed.
                for name in sorted(n for n in set(ours) | set(theirs) if not n.startswith("[") and "+0x" not in n):
                    self.assertEqual(ours.get(name), theirs.get(name), (keep_raw, section["event"], name))

    @staticmethod
    def by_name(entries, key):
        """What is inlined into a function of its own name is an entry of its own in reports: the same samples."""
        found = {}
        for e in entries:
            known = found.setdefault(e[key], [0] * 4)
            known[:2] = known[0] + e["self"], known[1] + e["self_samples"]
            known[2:] = max(known[2], e["total"]), max(known[3], e["total_samples"])
        return found

    def test_windows_at_every_sample(self):
        run = self.done(pair(1200), tool="record", sample=self.SAMPLE)
        for event in ("cpu-clock", "page-faults"):
            whole = self.ask(run, "flame", event=event, min=0)
            times = self.ask(run, "points", event=event, max=200000)["t"]
            self.assertEqual(len(times), whole["samples"])
            for cut in times[::max(1, len(times) // 40)] + [times[-1], times[-1] + 1]:
                left = self.ask(run, "flame", event=event, to=cut) if cut else None
                right = self.ask(run, "flame", event=event, **{"from": cut})
                self.assertEqual(left["samples"], sum(t < cut for t in times))
                self.assertEqual(left["samples"] + right["samples"], whole["samples"])
                self.assertEqual(left["total"] + right["total"], whole["total"])
            diff = self.server.get("diff", {"before": run["uuid"], "after": run["uuid"], "min": 0,
                                            "before_event": event, "after_event": event})
            self.assertEqual(diff["nodes"]["self_before"], diff["nodes"]["self_after"])
            few = self.ask(run, "points", event=event, max=50)
            self.assertLessEqual(len(few["t"]), 50)
            self.assertEqual((few["t"][0], few["t"][-1]), (times[0], times[-1]))


class Ledgers(Numbers):
    def open_go(self):
        """The pipe that the program reads from, once it does."""
        try:
            return os.open(self.path("go"), os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return None

    def test_losses(self):
        """More than any collector can take: what was not kept is counted."""
        os.mkfifo(self.path("go"))
        run = self.server.run(self.server.session(), ["sh", "-c", 'read go <"$0"; exec "$@"', self.path("go"),
                                                      *load("busy", 400)],
                              tool="both", events=["task-clock"], interval=0.05,
                              sample={"events": ["cpu-clock"], "period": 1000, "callgraph": "dwarf,65000"})
        go = eventually(self.open_go)
        self.assertTrue(go)
        workload = eventually(lambda: self.server.benchmark(run["uuid"])["workload_pid"])
        reader = parent_of(workload)
        # The collector, which reads the rings, is stopped until the program has ended. Server and runner are stopped
        # first: each of them continues its child when it sees it stopped, which is what they do in the end.
        others = [self.server.pid(), parent_of(reader)]
        try:
            for pid in (*others, reader):
                os.kill(pid, signal.SIGSTOP)
                self.assertTrue(eventually(lambda: state_of(pid) == "T"))
            os.write(go, b"go\n")
            os.close(go)
            self.assertTrue(eventually(lambda: not alive(workload)))
        finally:
            for pid in others:
                os.kill(pid, signal.SIGCONT)
        run = self.server.wait_run(run["uuid"])
        self.assertEqual(run["state"], "done", run)
        ledger = run["ledger"]
        self.assertGreater(ledger["lost"], 0)
        self.assertEqual(ledger["samples"], run["samples"])
        self.assertEqual((ledger["waiting_bytes"], ledger["behind_ns"], ledger["dropped"]), (0, 0, 0))
        self.assertGreater(ledger["collector_cpu_ns"], 0)
        marks = self.ask(run, "timeline", pixels=1)["marks"]
        self.assertEqual(sum(m["count"] for m in marks if m["kind"] == "lost"), ledger["lost"])
        # And in a table beside what was counted, not between.
        rows = self.csv(run)
        self.assertEqual(sum(int(r["[lost]"] or 0) for r in rows), ledger["lost"])
        counted = [r for r in rows if r["task-clock [msec]"]]
        self.assertGreaterEqual(len(counted), len(rows) - 1)
        self.assertGreater(min(float(r["interval_s"]) for r in counted), 1e-6)

    def test_runs_beside_each_other(self):
        needs_system_wide()
        session = self.server.session()
        begun = time.monotonic()
        system = self.server.run(session, ["sh", "-c", 'until [ -e "$0" ]; do sleep .02; done', self.path("enough")],
                                 system_wide=True, exclusive=False, tool="both", events=["task-clock"],
                                 sample={"events": ["cpu-clock"], "frequency": 199})
        # Its clock has begun: before, it would not know when the other one came. All its counters were read.
        self.assertTrue(eventually(lambda: self.server.benchmark(system["uuid"])["samples"] and
                                   self.totals(system).get("task-clock")))
        counting = time.monotonic()
        command = self.done(load("busy", 300), tool="stat", events=["task-clock"])
        self.assertTrue(eventually(lambda: self.ask(system, "timeline", pixels=1)["to_ns"] >= 3e9))
        counting = time.monotonic() - counting
        self.assertEqual(self.server.benchmark(system["uuid"])["state"], "running")
        self.write("enough", "")
        system = self.server.wait_run(system["uuid"])
        begun = time.monotonic() - begun
        self.assertEqual(system["state"], "done", system)
        mine, theirs = (next(o for o in a["ledger"]["overlap"] if o["run"] == b["uuid"])
                        for a, b in ((command, system), (system, command)))
        # Both end at the same time. The other one is disturbed from when the collector starts, which is
        # before the command's own clock does: by as much as that takes on this machine.
        short, long = (o["to_ns"] - o["from_ns"] for o in (mine, theirs))
        self.assertGreaterEqual(short, 3e8)
        self.assertLessEqual(short, long)
        # All CPUs, all the time: at least while we saw it count, and never when it did not run. They are opened one
        # after the other, and read one after the other, however long each takes.
        cpus_ms = self.totals(system)["task-clock"] / len(online_cpus())
        self.assertGreater(cpus_ms, 0.99 * counting * 1000)
        self.assertLess(cpus_ms, 1.01 * begun * 1000)

    def test_as_long_as_it_was_told(self):
        needs_system_wide()
        run = self.done(system_wide=True, duration=1, tool="stat", events=["task-clock"])
        whole = self.ask(run, "timeline", pixels=1)
        self.assertGreaterEqual(whole["to_ns"] - whole["from_ns"], 1e9)

    def test_sums_of_the_stream(self):
        """Early, in the middle, and who hangs up after every few messages."""
        # A snapshot has the last 8,192 counter values: those of seven minutes.
        run = self.server.run(self.server.session(), pair(0, self.path("enough")), tool="both",
                              events=["task-clock", "page-faults"], interval=0.1, sample=Samples.SAMPLE)["uuid"]
        early, hopper = Client(self.server, run), Hopper(self.server, run)
        self.assertTrue(eventually(lambda: early.events.count("samples") > 10))
        middle = Client(self.server, run)
        self.assertTrue(eventually(lambda: middle.gain and hopper.hops > 3))
        # A client that is away when a run ends is told to ask anew: test_away_at_the_end. Not this one.
        hopper.stay.set()
        self.assertTrue(eventually(lambda: hopper.stays))
        self.write("enough", "")
        clients = [c.finish() for c in (early, hopper, middle)]
        stored = self.server.wait_run(run)
        totals = self.totals(stored)
        for name, client in zip(("early", "hopper", "middle"), clients):
            with self.subTest(client=name, snapshots=client.snapshots, events=len(client.events)):
                self.assertEqual(sum(client.gain.values()), stored["samples"])
                self.assertEqual(client.gain, early.gain)
                self.assertEqual(client.counted["page-faults"], totals["page-faults"])
                self.assertAlmostEqual(client.counted["task-clock"] / 1e6, totals["task-clock"], delta=1e-3)


class Hopper(Client):
    """Hangs up after every few messages and comes back, until it is told to stay."""

    def __init__(self, server, run):
        self.stay, self.hops, self.stays = threading.Event(), 0, False
        super().__init__(server, run)

    def run(self):
        while "end" not in self.events:
            self.hops += 1
            messages, last = 0, self.stay.is_set()
            for event in self.server.stream({"run": self.uuid}, last_id=self.at):
                self.events.append(event.name)
                # Number 0 begins a snapshot: a client that hangs up in it begins anew.
                if event.id is not None:
                    self.at = event.id if event.id != "0" else None
                self.take(event.name, event.json())
                messages += 1
                self.stays = last
                if event.name == "end" or (messages > self.hops % 9 and not last):
                    break


if __name__ == "__main__":
    unittest.main()

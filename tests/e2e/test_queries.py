"""Questions about runs, asked of a real server: windows, filters, differences, time."""

import json
import os
import struct
import unittest

import perfdata
from helpers import compiled, eventually
from openapi import DescribedCase, DescribedServer

SIDE_BY_SIDE = True

# Two phases by the CPU time of the main thread: hot and cold as 70 to 30, then late and hot as 80 to 20. A
# second thread does as much in side() as the main thread has done: what one of them does while the other one
# is held up is limited, so the shares are.
PHASES_C = r"""
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

volatile long sink;
volatile int done;
static volatile long posted;
static sem_t rounds;

static long cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Whoever spins calls somebody, so that it has a frame. */
__attribute__((noinline)) void touch(void) { sink++; }
#define BODY(n) for (long i = 0; i < (n); i++) { sink += i; } touch(); sink++
__attribute__((noinline)) void spin(long n) { BODY(n); }
__attribute__((noinline)) void hot(long n) { spin(n); sink++; }
__attribute__((noinline)) void cold(long n) { spin(n); sink++; }
__attribute__((noinline)) void late(long n) { spin(n); sink++; }
__attribute__((noinline)) void side(void) { BODY(1000); }

static void *beside(void *x)
{
	for (long n = 0; !done || n < posted; n++) {
		sem_wait(&rounds);
		for (int i = 0; i < 10; i++)
			side();
	}
	return x;
}

static void post(void)
{
	posted++;
	sem_post(&rounds);
}

int main(void)
{
	pthread_t thread;

	sem_init(&rounds, 0, 0);
	pthread_create(&thread, 0, beside, 0);
	while (cpu_ms() < 600) {
		hot(7000);
		cold(3000);
		post();
	}
	while (cpu_ms() < 1200) {
		late(8000);
		hot(2000);
		post();
	}
	done = 1;
	sem_post(&rounds); /* it may wait for a round that does not come */
	pthread_join(thread, 0);
	return 0;
}
"""
FLAGS = ("-O1", "-g", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-fno-shrink-wrap", "-fno-inline",
         "-fno-ipa-icf", "-pthread")


def phases():
    return compiled("phases", PHASES_C, *FLAGS)


class Questions(DescribedCase):
    """One run of one server for many questions."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shared = DescribedServer()
        cls.addClassCleanup(cls.shared.close)
        cls.shared.start()
        run = cls.shared.run(cls.shared.session(), [phases()], tool="both", events=["task-clock"],
                             interval=0.005, sample={"events": ["cpu-clock"], "frequency": 2000,
                                                     "callgraph": "fp"})
        cls.run_json = cls.shared.wait_run(run["uuid"])
        cls.uuid = run["uuid"]

    def setUp(self):
        super().setUp()
        self.assertEqual(self.run_json["state"], "done", json.dumps(self.run_json)[:2000])

    def new_server(self, *options, **more):
        return self.shared

    def ask(self, question, uuid=None, **query):
        return self.server.get("benchmark/%s/%s" % (uuid or self.uuid, question), query)

    def functions(self, key="total_samples", **query):
        """By name; what several modules have of one is added."""
        found = {}
        answer = self.ask("functions", limit=1000, **query)
        self.assertIsNone(answer["next"])
        for f in answer["functions"]:
            found[f["name"]] = found.get(f["name"], 0) + f[key]
        return found

    def border(self):
        """When the second phase began, in nanoseconds."""
        points = self.ask("points", frames="^late$")
        return min(points["t"])

    def assert_share(self, part, whole, share, tolerance=0.12):
        self.assertGreater(whole, 50)
        self.assertAlmostEqual(part / whole, share, delta=tolerance)

    # ---- windows and filters ----

    def test_windows_show_their_phase(self):
        border = self.border()
        first = self.functions(to=border)
        self.assertNotIn("late", first)
        self.assert_share(first["hot"], first["hot"] + first["cold"], 0.7)
        second = self.functions(**{"from": border})
        self.assert_share(second["late"], second["late"] + second["hot"], 0.8)
        self.assertLess(second.get("cold", 0), 5)
        whole = self.functions()
        self.assertEqual(whole["hot"], first["hot"] + second["hot"])

    def test_windows_add_up(self):
        whole = self.functions("self_samples")
        end = self.ask("timeline", pixels=1)["to_ns"]
        for pieces in (2, 7, 31):
            added = {}
            for i in range(pieces):
                window = {"from": end * i // pieces, "to": end * (i + 1) // pieces}
                if i + 1 == pieces:
                    del window["to"]
                for name, samples in self.functions("self_samples", **window).items():
                    added[name] = added.get(name, 0) + samples
            self.assertEqual({k: v for k, v in added.items() if v}, {k: v for k, v in whole.items() if v})
        self.assertEqual(sum(whole.values()), self.run_json["samples"])

    def test_filters(self):
        whole = self.ask("flame")["samples"]
        threads = self.ask("threads", pixels=50)["threads"]
        self.assertEqual(sum(t["samples"] for t in threads), whole)
        parts = [self.functions(threads=tid) for tid in sorted({t["tid"] for t in threads})]
        beside = [p for p in parts if "beside" in p]
        self.assertEqual(len(beside), 1)
        self.assertNotIn("hot", beside[0])
        self.assertEqual(sum(self.ask("flame", threads=tid)["samples"] for tid in {t["tid"] for t in threads}),
                         whole)
        pid = threads[0]["pid"]
        self.assertEqual(self.ask("flame", pids=pid)["samples"], whole)
        self.assertEqual(self.ask("flame", pids=1)["samples"], 0)
        cpus = range(os.cpu_count())
        self.assertEqual(sum(self.ask("flame", cpus=cpu)["samples"] for cpu in cpus), whole)
        self.assertEqual(self.ask("flame", cpus="0-%d" % cpus[-1])["samples"], whole)
        only = self.functions(frames="^(late|cold)$")
        self.assertNotIn("hot", only)
        self.assertEqual(only["spin"] >= 1, True)
        self.assertEqual(self.ask("flame", frames="no such function")["samples"], 0)

    # ---- graphs ----

    def paths(self, tree, names, what="total"):
        """Weight by path, inlined or not."""
        nodes, texts, found = tree["nodes"], [], {}
        for i, (parent, name) in enumerate(zip(nodes["parent"], nodes["name"])):
            texts.append(texts[parent] + ";" + names[name][0] if i else "")
            found[texts[i]] = found.get(texts[i], 0) + nodes[what][i]
        return found

    def test_graphs_agree(self):
        flame = self.ask("flame", min=0)
        plain = self.paths(flame, flame["names"])
        self.assertEqual(plain[""], flame["total"])
        self.assertEqual(flame["hidden"], {"nodes": 0, "weight": 0})
        self.assertEqual(sum(flame["nodes"]["self"]), flame["total"])
        total = sum(w for path, w in plain.items() if path.endswith(";hot"))
        inverted = self.ask("flame", mode="inverted", min=0)
        self.assertEqual(inverted["total"], flame["total"])
        upside = self.paths(inverted, inverted["names"])
        leaves = self.paths(flame, flame["names"], "self")
        self.assertEqual(upside[";spin;hot"], sum(w for p, w in leaves.items() if p.endswith(";hot;spin")))
        sandwich = self.ask("flame", mode="sandwich", function="hot", min=0)
        self.assertEqual(sandwich["callers"]["total"], total)
        self.assertEqual(sandwich["callees"]["total"], total)
        callers = self.paths(sandwich["callers"], sandwich["names"])
        self.assertEqual(callers[";main"], sum(w for p, w in plain.items() if p.endswith(";main;hot")))
        self.assertGreater(callers[";main"], 0.9 * total)

    def test_in_the_order_of_time(self):
        border = self.border()
        # The main thread may have been sampled under the name that it had before the program was started.
        names = [t for t in self.ask("threads")["threads"] if t["tid"] == t["pid"]]
        main = max(names, key=lambda t: t["samples"])
        order = self.ask("flame", mode="ordered", threads=main["tid"])
        self.assertEqual(order["thread"], {key: main[key] for key in ("pid", "tid", "comm")})
        self.assertEqual(order["samples"], sum(t["samples"] for t in names if t["tid"] == main["tid"]))
        boxes = list(zip(*(order["boxes"][key] for key in ("name", "depth", "from_ns", "to_ns"))))
        at_work = {"late": [0, 0], "cold": [0, 0]}
        above = []  # the box of each depth that is open
        for name, depth, begin, end in boxes:
            self.assertLess(begin, end)
            del above[depth:]
            self.assertEqual(len(above), depth)
            self.assertTrue(not above or above[-1][0] <= begin and end <= above[-1][1])
            above.append((begin, end))
            if order["names"][name][0] in at_work:
                at_work[order["names"][name][0]][begin >= border] += end - begin
        self.assertGreater(at_work["cold"][0], 10 * at_work["cold"][1])
        self.assertGreater(at_work["late"][1], 10 * at_work["late"][0])
        # Far fewer columns: nearly as much, in fewer boxes.
        coarse = self.ask("flame", mode="ordered", threads=main["tid"], pixels=20)
        self.assertLess(len(coarse["boxes"]["name"]), len(boxes))
        self.assertEqual(coarse["samples"], order["samples"])

    def test_difference_of_two_windows(self):
        border = self.border()
        diff = self.server.get("diff", {"before": self.uuid, "after": self.uuid, "before_to": border,
                                        "after_from": border})
        changes = {f["name"]: f["total_after"] - f["total_before"] for f in diff["functions"]}
        self.assertGreater(changes["late"], 0.15)
        self.assertLess(changes["cold"], -0.05)
        self.assertLess(changes["hot"], -0.1)
        self.assertEqual(diff["samples_before"] + diff["samples_after"], self.ask("flame")["samples"])

    def test_difference_of_two_runs(self):
        run = self.server.run(self.server.session(), [phases()], tool="record",
                              sample={"events": ["cpu-clock"], "frequency": 500, "callgraph": "fp"})
        self.assertEqual(self.server.wait_run(run["uuid"])["state"], "done")
        diff = self.server.get("diff", {"before": self.uuid, "after": run["uuid"]})
        changes = {f["name"]: f["total_after"] - f["total_before"] for f in diff["functions"]}
        self.assertLess(abs(changes.get("hot", 0)), 0.12)
        self.assertEqual(diff["samples_after"], self.ask("flame", run["uuid"])["samples"])

    # ---- time ----

    def test_heat_map_and_histogram(self):
        whole = self.ask("flame")["samples"]
        heat = self.ask("heatmap", rows=20)
        self.assertEqual(sum(heat["cells"]), whole)
        self.assertEqual(len(heat["cells"]), heat["seconds"] * heat["rows"])
        self.assertEqual(max(heat["cells"]), heat["max"])
        weights = self.ask("histogram", weight="cpu-clock", bins=10)
        self.assertEqual(weights["count"], whole)
        self.assertEqual(sum(b["count"] for b in weights["bins"]), whole)
        values = self.ask("histogram", counter="task-clock", scale="log")
        self.assertEqual(sum(b["count"] for b in values["bins"]), values["count"])
        self.assertLessEqual(values["min"], values["p50"])
        self.assertLessEqual(values["p50"], values["p99"])
        self.assertLessEqual(values["p999"], values["max"])
        counted = self.ask("timeline", pixels=100)["counters"][0]
        self.assertAlmostEqual(sum(counted["sum"]) * counted["scale"], values["mean"] * values["count"],
                               delta=values["mean"] * values["count"] * 0.001)
        # Two threads, 1.2 seconds of one of them.
        self.assertGreater(values["mean"] * values["count"], 1200)

    def test_timeline_at_any_resolution(self):
        whole = self.ask("timeline", pixels=1, samples=1)
        fine = self.ask("timeline", pixels=2000, samples=1)
        self.assertEqual(sum(fine["samples"][0]["count"]), whole["samples"][0]["count"][0])
        one, many = whole["counters"][0], fine["counters"][0]
        self.assertAlmostEqual(sum(many["sum"]), one["sum"][0], delta=one["sum"][0] * 1e-6)
        self.assertAlmostEqual(max(v for v in many["max"] if v is not None), one["max"][0], delta=1)
        half = fine["to_ns"] // 2
        window = self.ask("timeline", pixels=10, to=half)["counters"][0]
        rest = self.ask("timeline", pixels=10, **{"from": half})["counters"][0]
        self.assertAlmostEqual(sum(window["sum"]) + sum(rest["sum"]), one["sum"][0], delta=one["sum"][0] * 1e-3)

    def test_columns(self):
        def sums():
            return self.ask("timeline", pixels=300)["counters"][0]["sum"]

        # A short block of values is spread over pixels as a whole. Blocks become others when small chunks are merged,
        # and then the sums change a little.
        def undisturbed():
            before = sums()
            body = self.server.get_bytes("benchmark/%s/timeline" % self.uuid, {"pixels": 300, "format": "columns"})
            return sums() == before and (before, body)
        as_json, body = eventually(undisturbed)
        line, _, _ = body.partition(b"\n")
        start = (len(line) + 1 + 7) & ~7
        column = json.loads(line)["counters"][0]["sum"]
        self.assertEqual(column["type"], "f64")
        values = struct.unpack_from("<%dd" % column["length"], body, start + column["offset"])
        for a, b in zip(values, as_json):
            self.assertAlmostEqual(a, b, delta=1 + abs(b) * 1e-6)

    def test_answers_of_ended_runs_are_kept(self):
        path = "benchmark/%s/flame" % self.uuid
        answer = self.server.expect(200, "GET", path)
        self.assertIn("total;dur=", answer.headers["Server-Timing"])
        again = self.server.request("GET", path, headers={"If-None-Match": answer.headers["ETag"]})
        self.assertEqual(again.status, 304)
        before = answer.json()
        self.server.restart()
        self.assertEqual(self.server.get(path), before)

    def test_wrong_questions(self):
        for question, part in (("flame?from=2s&to=1s", "empty"), ("flame?frames=(", "regular expression"),
                               ("flame?event=cycle", "no samples of an event"), ("timeline?pixels=0", "at least 1"),
                               ("flame?mode=sandwich&function=nobody", "no function"), ("heatmap?rows=x", "number"),
                               ("flame?colour=red", "colour"), ("annotate", "function")):
            answer = self.server.request("GET", "benchmark/%s/%s" % (self.uuid, question))
            self.assertIn(answer.status, (400, 404), question)
            self.assertIn(part, answer.message(), question)


class Running(DescribedCase):
    def test_a_run_that_goes_on_can_be_asked(self):
        """It goes on until it was seen to."""
        workload = ["sh", "-c", 'until [ -e "$1" ]; do "$0"; done', phases(), self.path("enough")]
        run = self.server.run(self.server.session(), workload, tool="both", events=["task-clock"],
                              sample={"events": ["cpu-clock"], "frequency": 1000, "callgraph": "fp"})
        uuid, seen = run["uuid"], []

        def ask():
            state = self.server.benchmark(uuid)["state"]
            seen.append(self.server.get("benchmark/%s/flame" % uuid)["samples"])
            return state
        self.server.wait_state(uuid, "running")
        self.assertTrue(eventually(lambda: ask() == "running" and len(set(seen)) > 3), seen)
        self.write("enough", "")
        # Also while it ends.
        self.assertTrue(eventually(lambda: ask() == "done"), seen)
        self.assertEqual(seen, sorted(seen))
        self.assertEqual(seen[-1], self.server.benchmark(uuid)["samples"])


class ShownEvent(DescribedCase):
    """Without a name every answer and file is about the event with most samples in the whole run."""

    CLOCK, FAULTS, SWITCHES = perfdata.Recording.CLOCK, perfdata.Recording.FAULTS, perfdata.Recording.SWITCHES

    def imported(self, *events):
        """@events: (config, [seconds])…, in the order in which they are listed."""
        recording = perfdata.Recording(*(config for config, _ in events))
        recording.comm("events")
        for number, (_, times) in enumerate(events):
            for time in times:
                recording.sample(number, 10 ** 12 + int(time * 1e9), 0x1000 * (number + 1))
        run = self.server.wait_run(self.server.post("import", recording.bytes(), status=202)["uuid"])
        self.assertEqual(run["state"], "done")
        return run["uuid"]

    def three(self):
        """The first listed, the busiest of the run, and the busiest of its fifth second."""
        return self.imported((self.CLOCK, [0, 9]), (self.FAULTS, [i / 2 for i in range(20)]),
                             (self.SWITCHES, [5.1 + i / 10 for i in range(8)]))

    def test_questions_and_files_agree(self):
        run = self.three()
        for window in ({}, {"from": "5s", "to": "6s"}):
            samples = 2 if window else 20
            for question in ("flame", "functions", "flame?mode=inverted"):
                path, _, more = question.partition("?")
                asked = dict(window, **dict([more.split("=")] if more else []))
                answer = self.server.get("benchmark/%s/%s" % (run, path), asked)
                self.assertEqual((answer["event"], answer["samples"]), ("page-faults", samples), question)
            heat = self.server.get("benchmark/%s/heatmap" % run, window)
            self.assertEqual(sum(heat["cells"]), samples)
            folded = self.server.expect(200, "GET", "benchmark/%s.folded" % run, query=window).body.decode()
            self.assertEqual(sum(int(line.rpartition(" ")[2]) for line in folded.splitlines()), samples)
            svg = self.server.expect(200, "GET", "benchmark/%s.svg" % run, query=window).body.decode()
            self.assertIn("%d samples of page-faults" % samples, svg)

    def test_a_named_event_stays(self):
        answer = self.server.get("benchmark/%s/flame" % self.three(), {"event": "context-switches"})
        self.assertEqual((answer["event"], answer["samples"]), ("context-switches", 8))

    def test_the_first_listed_of_equals(self):
        run = self.imported((self.FAULTS, [0, 1]), (self.CLOCK, [0, 1]))
        self.assertEqual(self.server.get("benchmark/%s/flame" % run)["event"], "page-faults")

    def test_a_window_without_it_says_so(self):
        run = self.imported((self.FAULTS, [0, 1, 2]), (self.CLOCK, [5, 6]))
        window = {"from": "4s"}
        self.assertEqual(self.server.get("benchmark/%s/flame" % run, window)["samples"], 0)
        answer = self.server.request("GET", "benchmark/%s.svg" % run, query=window)
        self.assertIn("no samples of page-faults", answer.message())

    def diff(self, before, after, **more):
        answer = self.server.get("diff", dict(more, before=before, after=after))
        return answer["event_before"], answer["event_after"], answer["samples_before"], answer["samples_after"]

    def test_both_sides_of_a_comparison(self):
        three = self.three()
        # Its busiest is not that of the other one, which has it, too.
        two = self.imported((self.CLOCK, [0, 1, 2]), (self.FAULTS, [0]))
        self.assertEqual(self.diff(two, three), ("page-faults", "page-faults", 1, 20))
        self.assertEqual(self.diff(three, two), ("cpu-clock", "cpu-clock", 2, 3))
        self.assertEqual(self.diff(three, two, before_event="page-faults"), ("page-faults", "page-faults", 20, 1))
        # What is shown of the run before, if that after has it; else both as they are.
        faults, clock = self.imported((self.FAULTS, [0])), self.imported((self.CLOCK, [0, 1]))
        self.assertEqual(self.diff(faults, two), ("page-faults", "page-faults", 1, 1))
        self.assertEqual(self.diff(faults, clock), ("page-faults", "cpu-clock", 1, 2))


class Imported(DescribedCase):
    """A recording, in the store and beside it, says the same."""

    def test_the_same_as_report(self):
        path = os.path.join(self.home, "perf.data")
        self.tacho("record", "-q", "-F", "1500", "-g", "-e", "cpu-clock", "-o", path, "--", phases())
        with open(path, "rb") as data:
            run = self.server.post("import", data.read(), status=202)
        run = self.server.wait_run(run["uuid"])
        self.assertEqual(run["state"], "done", json.dumps(run)[:2000])
        section = json.loads(self.tacho("report", "--json", "--sort", "sym", "-i", path).stdout)["sections"][0]
        theirs = {}
        for entry in section["entries"]:
            theirs[entry["symbol"]] = (entry["self_samples"], entry["total_samples"])
        found = self.server.get("benchmark/%s/functions" % run["uuid"], {"limit": 1000})
        self.assertEqual(found["samples"], section["samples"])
        self.assertEqual(found["total"], section["weight"])
        ours = {f["name"]: (f["self_samples"], f["total_samples"]) for f in found["functions"]}
        for name in ("main", "hot", "cold", "late", "spin", "side", "beside"):
            self.assertEqual(ours[name], theirs[name], name)
        self.tacho("convert", "-q", "--to", "folded", "-i", path, "-o", path + ".folded")
        theirs = {}
        with open(path + ".folded", encoding="utf-8") as folded:
            for line in folded:
                stack, _, count = line.rpartition(" ")
                if stack.endswith(";spin"):
                    caller = stack.split(";")[-2]
                    theirs[caller] = theirs.get(caller, 0) + int(count)
        for caller in ("hot", "cold", "late"):
            found = self.server.get("benchmark/%s/functions" % run["uuid"],
                                    {"frames": "^%s$" % caller, "limit": 1000})
            ours = [f["self"] for f in found["functions"] if f["name"] == "spin"]
            self.assertEqual(ours, [theirs[caller]], caller)

    def losing(self, timeless=0):
        """Two samples a second for 4 s on a machine that has been up for 11 days, and 438 losses told as
        perf record does: by the kernel in LOST records, and by perf at the end in LOST_SAMPLES, which
        have no time. @timeless more are told by perf alone."""
        up, recording = 10 ** 15, perfdata.Recording(perfdata.Recording.CLOCK)
        recording.comm("losing")
        for i in range(9):
            recording.sample(0, up + i * 500_000_000)
        recording.lost(up + 1_600_000_000, 400)
        recording.lost(up + 3_100_000_000, 38)
        recording.lost_samples(0, 438 + timeless)
        # Samples that a filter of perf record did not want are not lost.
        recording.lost_samples(0, 9000, misc=1 << 15)
        return recording.bytes()

    def imported(self, data, samples="true", pixels=100):
        run = self.server.wait_run(self.server.post("import", data, status=202)["uuid"])
        self.assertEqual(run["state"], "done")
        timeline = self.server.get("benchmark/%s/timeline" % run["uuid"], {"pixels": pixels, "samples": samples})
        return run, timeline

    def test_losses_are_counted_once(self):
        run, timeline = self.imported(self.losing())
        self.assertEqual((run["samples"], run["ledger"]["lost"]), (9, 438))
        self.assertEqual(sum(m["count"] for m in timeline["marks"] if m["kind"] == "lost"), 438)
        # What only perf's own count knows of is not forgotten either; it is placed at the end.
        run, timeline = self.imported(self.losing(timeless=62))
        self.assertEqual(run["ledger"]["lost"], 500)
        marks = [(m["count"], m["ns"]) for m in timeline["marks"] if m["kind"] == "lost"]
        self.assertEqual([count for count, _ in marks], [400, 38, 62])
        self.assertEqual([round(ns / 1e9, 1) for _, ns in marks], [1.6, 3.1, 4.0])

    def test_losses_without_time_do_not_stretch_the_run(self):
        run, timeline = self.imported(self.losing(timeless=62))
        self.assertEqual((timeline["from_ns"], timeline["to_ns"]), (0, 4_000_000_001))
        self.assertEqual(sum(1 for count in timeline["samples"][0]["count"] if count), 9)
        heat = self.server.get("benchmark/%s/heatmap" % run["uuid"], {"rows": 10})
        self.assertEqual((heat["first_s"], heat["seconds"], sum(heat["cells"])), (0, 5, 9))

    def test_samples_without_time_do_not_stretch_the_run(self):
        up, clock, faults = 10 ** 15, perfdata.Recording.CLOCK, perfdata.Recording.FAULTS
        recording = perfdata.Recording(clock, faults, timeless=(faults,))
        recording.comm("timeless")
        recording.sample(1, 0)
        for i in range(9):
            recording.sample(0, up + i * 500_000_000)
            recording.sample(1, 0)
        run, timeline = self.imported(recording.bytes())
        self.assertEqual((timeline["from_ns"], timeline["to_ns"]), (0, 4_000_000_001))
        counts = {s["event"]: [c for c in s["count"] if c] for s in timeline["samples"]}
        self.assertEqual(counts["page-faults"], [2] + [1] * 8)
        self.assertEqual(run["samples"], 19)

    def test_a_loss_before_the_first_sample_begins_the_run(self):
        up, recording = 10 ** 15, perfdata.Recording(perfdata.Recording.CLOCK)
        recording.comm("late")
        recording.lost(up, 7)
        recording.sample(0, up + 10 ** 9)
        run, timeline = self.imported(recording.bytes())
        self.assertEqual((timeline["from_ns"], timeline["to_ns"]), (0, 1_000_000_001))
        self.assertEqual(run["ledger"]["lost"], 7)

    def test_losses_and_throttling_have_their_time(self):
        # Not recorded: where the machine is busy, the kernel throttles by itself.
        up, recording = 10 ** 15, perfdata.Recording(perfdata.Recording.CLOCK)
        recording.comm("losing")
        for i in range(401):
            recording.sample(0, up + i * 10_000_000)
            if i == 100:
                recording.lost(up + 1_003_000_000, 77)
            if i == 300:
                recording.throttled(up + 3_004_000_000)
        run, answer = self.imported(recording.bytes(), samples="false", pixels=1000)
        self.assertEqual((run["ledger"]["lost"], run["ledger"]["throttled"]), (77, 1))
        self.assertEqual(answer["counters"], [])
        self.assertEqual([(mark["kind"], mark["count"]) for mark in answer["marks"]], [("lost", 77), ("throttled", 1)])
        pixel = (answer["to_ns"] - answer["from_ns"]) / 1000
        for mark, ns in zip(answer["marks"], (1_003_000_000, 3_004_000_000)):
            self.assertLess(abs(mark["ns"] - ns), pixel)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Run slices: the table says when threads of a program of known shape ran, is the one that a reader of the recording
comes to who knows nothing of ours, and is the same live and imported."""

import csv
import io
import json
import struct
import subprocess
import unittest

from helpers import TACHO, compiled, eventually, online_cpus
from test_tables import Tables

SIDE_BY_SIDE = True

SWITCH = "sched:sched_switch"
WAKEUPS = ["sched:sched_waking", "sched:sched_wakeup", "sched:sched_wakeup_new"]

# Two threads on one CPU hand a byte to and fro, so that none can run before the other has stopped. A third one then
# computes. Each says how much time it was given. With a second argument the two go on until that file is there.
PING_C = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static int there[2], back[2];
static long rounds;
static const char *until;

static long long cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static int goes_on(long i)
{
	return until ? access(until, F_OK) : i < rounds;
}

static void *ping(void *arg)
{
	char byte = 0;

	prctl(PR_SET_NAME, "ping");
	for (long i = 0; goes_on(i); i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			abort();
	close(there[1]);
	return NULL;
}

static void *pong(void *arg)
{
	char byte;

	prctl(PR_SET_NAME, "pong");
	while (read(there[0], &byte, 1) == 1)
		if (write(back[1], &byte, 1) != 1)
			abort();
	return NULL;
}

static void *busy(void *arg)
{
	volatile double x = 1;

	prctl(PR_SET_NAME, "busy");
	while (cpu_ns() < 200000000)
		for (int i = 0; i < 10000; i++)
			x = x * 1.0000001;
	return NULL;
}

int main(int argc, char **argv)
{
	void *(*const threads[])(void *) = {ping, pong, busy};
	pthread_t t[3];
	cpu_set_t one;
	int cpu = 0;

	rounds = atol(argv[1]);
	until = argv[2];
	sched_getaffinity(0, sizeof(one), &one);
	while (!CPU_ISSET(cpu, &one))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	if (pipe(there) || pipe(back))
		return 1;
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, threads[i], NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
"""
ROUNDS = 300

# Of counters that were inherited: a record that says nothing of switches.
READ = 8


def program(*args):
    return [compiled("alternate", PING_C, "-pthread"), *map(str, args)]


class Reader:
    """What the samples of a recording say, in the order of time: slices that begin and end with a switch that fits,
    and why the thread was ready before."""

    def __init__(self, samples, whole_cpus):
        self.slices = []
        self.whole_cpus = whole_cpus
        self.running = {}  # CPU → tid, start, wait
        self.past = {}     # tid → what happened since it began to run the last time, the latest last
        for s in samples:
            fields = s.get("fields")
            if s["type"] != "SAMPLE":
                self.lost(s["cpu"])
            elif s["event"] == SWITCH:
                self.switch(s["time_ns"], s["cpu"], fields, s["trace"])
            else:
                kind = "creation" if s["event"].endswith("_new") else "wakeup"
                if s["cpu"] not in self.running:
                    self.past = {}
                if s["tid"] not in (-1, 0xffffffff):  # it is about to be gone
                    self.see(s["cpu"], s["tid"])
                self.past.setdefault(fields["pid"], []).append((kind, s["time_ns"]))

    def lost(self, cpu):
        self.past = {}
        for other in self.running:
            if cpu in (other, 0xffffffff, -1):
                self.running[other] = None

    def see(self, cpu, tid):
        """It runs there. If another one should, switches are missing: nobody knows what else happened meanwhile. That
        is no wonder if switches of single tasks were recorded."""
        before = self.running.get(cpu)
        if before and before[0] == tid:
            return
        if before and self.whole_cpus:
            self.past = {}
        self.running[cpu] = tid, None, None

    def switch(self, time, cpu, fields, text):
        tid, next_tid = fields["prev_pid"], fields["next_pid"]
        state = text.split("prev_state=")[-1].split(" ")[0]
        if cpu not in self.running:
            self.past = {}  # it is recorded from now on; before, any of them may have run on it
        self.see(cpu, tid)
        before = self.running[cpu]
        if before[1] is None:
            self.past[tid] = []  # it began to run at some time that was not seen
        elif tid:
            self.slices.append((before[1], time, tid, cpu, state, *before[2]))
        self.past.setdefault(tid, []).append(("stop", time) if state[0] not in "RXZ" else
                                             ("preemption", time) if state[0] == "R" else ("exit", time))
        self.running[cpu] = (next_tid, time, self.wait(next_tid, time))
        self.past[next_tid] = []

    def wait(self, tid, now):
        """Kind and length of the wait of a thread that begins to run; nothing if it is not known."""
        past, early = self.past.get(tid, []), False
        while past and past[0][0] == "wakeup":
            early = True  # while it ran
            past = past[1:]
        if not past or past[0][0] == "exit":
            past = [p for p in past if p[0] == "creation"]
        if not past:
            return "", 0
        if past[0][0] != "stop":
            return past[0][0], now - past[0][1]
        for kind, time in past[1:]:
            if kind in ("wakeup", "creation"):
                return kind, now - time
        return ("wakeup", now - past[0][1]) if early else ("", 0)


class Slices(Tables):
    def record(self, events, **more):
        run = self.server.run(self.server.session(), program(ROUNDS), tool="record", keep_raw=True,
                              sample={"events": events, "period": 1, "callgraph": "fp"}, **more)
        run = self.server.wait_run(run["uuid"])
        self.assertEqual(run["state"], "done", run)
        self.raw = self.server.get_bytes("benchmark/%s.data" % run["uuid"])
        return run["uuid"]

    def upload(self):
        run = self.server.post("import", self.raw, status=202, query={"session": self.server.session(), "name": "x"})
        run = self.server.wait_run(run["uuid"])
        self.assertEqual(run["state"], "done", run)
        return run["uuid"]

    def notes(self, uuid):
        return [n["text"] for n in self.server.get("benchmark/%s/ledger" % uuid)["notes"]]

    def tables(self, uuid):
        return {t["name"]: t for t in self.server.get("benchmark/%s/table" % uuid)["tables"]}

    def read(self):
        path = self.write("kept.data", "")
        with open(path, "wb") as out:
            out.write(self.raw)
        lines = subprocess.run([TACHO, "script", "-i", path, "--json"], capture_output=True, text=True, check=True)
        records = map(json.loads, lines.stdout.splitlines())
        return sorted((r for r in records if r["type"] in ("LOST", "THROTTLE") or
                       (r["type"] == "SAMPLE" and r["event"] in [SWITCH, *WAKEUPS])),
                      key=lambda r: (r["time_ns"], r["offset"]))

    def start(self, uuid, samples):
        """Times of tables are since the beginning of the run."""
        first = self.server.get("benchmark/%s/table/%s" % (uuid, SWITCH), {"limit": 1})
        names = [c["name"] for c in first["columns"]]
        return min(s["time_ns"] for s in samples if s["type"] == "SAMPLE" and s["event"] == SWITCH) - first["rows"][0][names.index("time")]

    def check_apart(self, rows):
        """Nobody runs on two CPUs, no CPU runs two."""
        for key in ("cpu", "tid"):
            ends = {}
            for row in sorted(rows, key=lambda r: (r["time"], r["end"])):
                self.assertGreaterEqual(row["end"], row["time"])
                self.assertGreaterEqual(row["time"], ends.get(row[key], 0), (key, row))
                ends[row[key]] = row["end"]

    def check_as_read(self, uuid, rows, samples, whole_cpus=True):
        start = self.start(uuid, samples)
        got = sorted((r["time"] + start, r["end"] + start, r["tid"], r["cpu"], r["state"], r["waited"], r["wait"])
                     for r in rows if r["whole"])
        truth = sorted(Reader(samples, whole_cpus).slices)
        told = [s for s in samples if s["type"] != "SAMPLE"], self.notes(uuid)
        self.assertEqual(len(got), len(truth), told)
        for mine, theirs in zip(got, truth):
            self.assertEqual(mine, theirs, told)


class OfAll(Slices):
    def test_a_known_program(self):
        uuid = self.record([SWITCH, *WAKEUPS], system_wide=True)
        table = self.tables(uuid)["run_slices"]
        self.assertEqual((table["shape"], table["sampled"]), ("span", False))
        rows = self.rows(uuid, "run_slices")
        pid = self.server.benchmark(uuid)["workload_pid"]
        of = {name: [r for r in rows if r["comm"] == name and r["pid"] == pid] for name in ("ping", "pong", "busy")}
        for name in ("ping", "pong"):
            self.assertGreaterEqual(len(of[name]), ROUNDS, name)
            self.assertEqual(len({r["cpu"] for r in of[name] if r["whole"]}), 1)
            # In this program only the other one wakes it.
            wakers = {r["waker"][2] for r in of[name] if r["waited"] == "wakeup" and r["waker"][0] == pid}
            self.assertEqual(wakers, {"pong" if name == "ping" else "ping"})
        self.assertEqual({r["ended"] for r in of["busy"]} - {"preempted"}, {"exited"})
        self.assertEqual(of["busy"][-1]["ended"], "exited")
        self.assertEqual([r["waited"] for r in of["busy"]][0], "creation")
        # It has counted these itself. What interrupts and other guests take is in the slices only; at each switch
        # the kernel's accounts and the tracepoint are apart by some instructions.
        self.assertGreaterEqual(sum(r["duration"] for r in of["busy"]), 190000000)
        self.check_apart(rows)
        self.check_as_read(uuid, rows, self.read())
        self.assertEqual([r for r in rows if r["tid"] == 0], [])
        self.check_groups(uuid, rows)
        self.check_exports(uuid, rows)
        self.check_import(uuid, rows)

    def check_groups(self, uuid, rows):
        answer = self.server.get("benchmark/%s/table/run_slices/group" % uuid,
                                 {"by": "comm", "value": "duration", "limit": 1000})
        sums = {}
        for r in rows:
            sums[r["comm"]] = sums.get(r["comm"], 0) + r["end"] - r["time"]
        self.assertEqual({g["keys"][0]: g["sum"] for g in answer["groups"]}, sums)

    def check_exports(self, uuid, rows):
        text = self.server.get_bytes("benchmark/%s.csv" % uuid, {"what": "run_slices"}).decode()
        lines = self.server.get_bytes("benchmark/%s.jsonl" % uuid, {"what": "run_slices"}).decode().splitlines()
        table = [dict(r, wait=r["wait [ns]"]) for r in csv.DictReader(io.StringIO(text, newline=""))]
        by = ("tid", "cpu", "ended", "wait", "waker_comm")
        wanted = sorted([*(str(r[k]) for k in by[:-1]), r["waker"][2]] for r in rows)
        self.assertEqual(sorted([r[k] for k in by] for r in table), wanted)
        self.assertEqual(sorted([str(r[k]) for k in by] for r in map(json.loads, lines)), wanted)

    def check_import(self, uuid, rows):
        """The file of the run says the same, but for the time of its last record. Threads of the kernel change their
        names without a record."""
        imported = self.rows(self.upload(), "run_slices")
        keys = ("tid", "cpu", "whole", "began", "ended", "state", "waited", "wait", "prio", "function")
        shift = rows[0]["time"] - imported[0]["time"]

        def plain(table, by):
            return sorted([r["time"] + by, r["end"] + by if r["ended"] != "open" else 0, r["comm"].split("/")[0],
                           *(r[k] for k in keys), r["waker"][1]] for r in table)
        self.assertEqual(plain(imported, shift), plain(rows, 0))

    def test_while_it_runs(self):
        end = self.path("end")
        run = self.server.run(self.server.session(), program(0, end), tool="record", system_wide=True,
                              sample={"events": [SWITCH], "period": 1})
        try:
            def seen():
                tables = self.tables(run["uuid"])
                return tables.get("run_slices", {"rows": 0})["rows"] > 100
            self.server.wait_state(run["uuid"], "running")
            eventually(seen)
            answer = self.server.get("benchmark/%s/table/run_slices" % run["uuid"],
                                     {"where": 'comm == "ping"', "limit": 10})
            self.assertGreater(answer["matched"], 0)
            self.assertEqual(self.server.benchmark(run["uuid"])["state"], "running")
        finally:
            self.write("end", "")
        self.assertEqual(self.server.wait_run(run["uuid"])["state"], "done")


class OfTasks(Slices):
    def test_what_is_sure(self):
        """Of single tasks the kernel tells when they stop. On one CPU that is enough where they alternate."""
        uuid = self.record([SWITCH])
        rows = self.rows(uuid, "run_slices")
        whole = [r for r in rows if r["whole"]]
        self.assertGreaterEqual(sum(r["comm"] in ("ping", "pong") for r in whole), ROUNDS)
        self.assertGreater(len(rows), len(whole))
        self.check_apart(rows)
        self.check_as_read(uuid, rows, self.read(), whole_cpus=False)
        # No others: of these nobody knows when they stopped.
        pids = {s["pid"] for s in self.read() if s["type"] == "SAMPLE"}
        self.assertEqual({r["pid"] for r in rows} - pids, set())
        self.assertEqual({r["ended"] for r in rows} & {"lost", "open"}, set())
        self.assertEqual(sum("recorded for single tasks" in n for n in self.notes(uuid)), 1, self.notes(uuid))

    def test_no_wait_where_others_may_have_run_it(self):
        cpu = online_cpus()[0]
        uuid = self.record([SWITCH, *WAKEUPS], system_wide=True, cpus=str(cpu))
        rows = self.rows(uuid, "run_slices")
        self.assertGreater(sum(r["whole"] for r in rows), 0)
        self.assertEqual({(r["waited"], r["wait"]) for r in rows}, {("", 0)})


class Damaged(Slices):
    def test_switches_that_cannot_be_read(self):
        """What they said is lost: a thread that was switched away from and back has not run all the time."""
        self.record([SWITCH], system_wide=True)
        by_cpu, raw, cuts = {}, bytearray(self.raw), []
        for s in self.read():
            if s["type"] == "SAMPLE":
                by_cpu.setdefault(s["cpu"], []).append(s)
        for cpu, switches in by_cpu.items():
            for there, back in zip(switches[1::10], switches[2::10]):
                cuts += [(cpu, there["time_ns"]), (cpu, back["time_ns"])]
                self.cut(raw, there)
                self.cut(raw, back)
        samples, self.raw = self.read(), bytes(raw)
        uuid = self.upload()
        start = self.start(uuid, samples)
        rows = self.rows(uuid, "run_slices")
        self.assertGreater(sum(r["whole"] for r in rows), 0)
        across = [(r, time) for cpu, time in cuts for r in rows
                  if r["cpu"] == cpu and r["time"] + start < time < r["end"] + start]
        self.assertEqual(len(across), 0, across[:3])
        self.assertEqual(sum("%d losses" % len(cuts) in n for n in self.notes(uuid)), 1, self.notes(uuid))

    def test_switches_that_nobody_told_to_be_missing(self):
        """Of two that are gone, away and back, nothing can be seen: the note says that this may be so."""
        self.record([SWITCH], system_wide=True)
        raw = bytearray(self.raw)
        for s in [s for s in self.read() if s["type"] == "SAMPLE"][3::4]:
            struct.pack_into("<I", raw, s["offset"], READ)
        self.raw = bytes(raw)
        notes = [n for n in self.notes(self.upload()) if "Switches of threads are missing" in n]
        self.assertEqual(len(notes), 1)
        self.assertIn("(0 losses", notes[0])
        self.assertIn("A whole one is too long if", notes[0])

    def test_more_states_than_there_are(self):
        """None is taken for another one."""
        self.record([SWITCH], system_wide=True)
        raw = bytearray(self.raw)
        switches = [s for s in self.read() if s["type"] == "SAMPLE"]
        self.assertGreater(len(switches), 200)
        for i, s in enumerate(switches):
            # The kernel's letters are those of the lowest bits: S, then D.
            struct.pack_into("<q", raw, self.prev_pid_at(raw, s) + 8, (i + 1) << 32 | (1 if i < 100 else 2))
        samples, self.raw = self.read(), bytes(raw)
        uuid = self.upload()
        first_d = switches[100]["time_ns"] - self.start(uuid, samples)
        rows = self.rows(uuid, "run_slices")
        later = {(r["ended"], r["state"]) for r in rows if r["end"] > first_d} - {("open", ""), ("lost", "")}
        self.assertEqual(later, {("waiting", "")})
        self.assertIn(("sleeping", "S"), {(r["ended"], r["state"]) for r in rows})

    def prev_pid_at(self, raw, sample):
        size, = struct.unpack_from("<H", raw, sample["offset"] + 6)
        fields = struct.pack("<iiq", *(sample["fields"][f] for f in ("prev_pid", "prev_prio", "prev_state")))
        at = raw.find(fields, sample["offset"], sample["offset"] + size)
        self.assertGreater(at, 0, sample)
        return at

    def cut(self, raw, sample):
        """Leaves only the first 20 bytes of the fields."""
        struct.pack_into("<I", raw, self.prev_pid_at(raw, sample) - 28, 20)


class NotAll(Slices):
    """Where switches are missing there is no table, and a note says why."""

    def none(self, uuid, why):
        self.assertNotIn("run_slices", self.tables(uuid))
        notes = [n for n in self.notes(uuid) if "no table of run slices" in n]
        self.assertEqual(len(notes), 1, self.notes(uuid))
        self.assertIn(why, notes[0])

    def run_with(self, **sample):
        run = self.server.run(self.server.session(), program(ROUNDS), tool="record", system_wide=True, keep_raw=True,
                              sample={"events": [SWITCH], **sample})
        self.assertEqual(self.server.wait_run(run["uuid"])["state"], "done")
        self.raw = self.server.get_bytes("benchmark/%s.data" % run["uuid"])
        return run["uuid"]

    def test_a_filter(self):
        self.none(self.run_with(period=1, filter="next_prio > 0"), "filter")
        # The kept file knows that.
        self.none(self.upload(), "filter")

    def test_every_second_switch(self):
        self.none(self.run_with(period=2), "period 1")
        self.none(self.upload(), "period 1")

    def test_a_field_of_another_name(self):
        """Slices from wakeups alone would be wrong."""
        self.record([SWITCH, *WAKEUPS], system_wide=False)
        other = self.raw.replace(b"field:long prev_state;", b"field:long prev_stxte;")
        self.assertNotEqual(other, self.raw)
        self.raw = other
        self.none(self.upload(), "not describe all fields")


if __name__ == "__main__":
    unittest.main()

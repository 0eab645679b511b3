#!/usr/bin/env python3
"""What tacho records is read by hotspot's parser: the same samples, periods and addresses."""

import os
import struct
import subprocess
import unittest

from helpers import LIMIT_S, Case, load, needs_tracefs

SIDE_BY_SIDE = True

PARSER = "/usr/lib/x86_64-linux-gnu/libexec/hotspot-perfparser"
LOCATION, SAMPLE, TRACEPOINT_SAMPLE = 3, 13, 14


def messages(data):
    """Its output: a magic, a version, then messages, each with its size before it; the first byte
    is the kind, the rest is big-endian."""
    assert data.startswith(b"QPERFSTREAM\0"), data[:16]
    at = 16
    while at < len(data):
        size = struct.unpack_from("<I", data, at)[0]
        yield data[at + 4:at + 4 + size]
        at += 4 + size


def parse_sample(message):
    """(pid, tid, time, cpu), ids of the frames, periods"""
    pid, tid, time_ns, cpu, count = struct.unpack_from(">IIQII", message, 1)
    at = 1 + struct.calcsize(">IIQII")
    frames = struct.unpack_from(f">{count}i", message, at)
    at += 4 * count + 1  # and how many of them are guessed
    costs = struct.unpack_from(">I", message, at)[0]
    return (pid, tid, time_ns, cpu), frames, [struct.unpack_from(">iQ", message, at + 4 + 12 * i)[1]
                                              for i in range(costs)]


@unittest.skipUnless(os.access(PARSER, os.X_OK), "hotspot is not installed")
class Hotspot(Case):
    def parsed(self, path):
        out = self.path("parsed")
        done = subprocess.run([PARSER, "--input", path, "--output", out], capture_output=True, text=True,
                              timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        with open(out, "rb") as f:
            return list(messages(f.read()))

    def check(self, *options, command=("busy", 120), addresses=True, least=50, fixed=0):
        """@fixed is the period of samples which do not say it themselves; its parser gives 0 then, as with perf's files."""
        path = self.path("x.data")
        done = self.tacho("record", "-q", *options, "-o", path, "--", *load(*command))
        self.assertEqual(done.returncode, 0, done.stderr)
        ours = []
        for line in self.tacho("script", "-i", path, "-F", "pid,tid,cpu,time,period,ip", "-G",
                               "--ns").stdout.splitlines():
            task, cpu, when, period, address = line.split()
            pid, tid = task.split("/")
            seconds, ns = when.rstrip(":").split(".")
            ours.append((int(pid), int(tid), int(seconds) * 10**9 + int(ns), int(cpu.strip("[]")), int(period),
                         int(address, 16)))
        where, theirs = {}, []
        for message in self.parsed(path):
            if message[0] == LOCATION:
                number, address = struct.unpack_from(">iQ", message, 1)
                where[number] = address
            elif message[0] in (SAMPLE, TRACEPOINT_SAMPLE):
                who, frames, periods = parse_sample(message)
                theirs.append((*who, sum(periods) or fixed, where.get(frames[0]) if frames else None))
        self.assertGreater(len(ours), least)
        if not addresses:
            ours, theirs = [s[:5] for s in ours], [s[:5] for s in theirs]
        self.assertEqual(sorted(theirs), sorted(ours))

    def test_frame_pointers(self):
        self.check("-e", "cpu-clock", "-c", "1000000", "-g")

    def test_stack_copies(self):
        # What it finds by unwinding may begin elsewhere.
        self.check("-e", "cpu-clock", "-c", "1000000", "--call-graph", "dwarf,4096", addresses=False)

    def test_several_events(self):
        self.check("-e", "page-faults", "-e", "minor-faults", "-c", "10", "-g", command=("pages", 2000),
                   fixed=10)

    def test_tracepoints(self):
        needs_tracefs()
        self.check("-e", "syscalls:sys_enter_getppid", command=("calls", 500), addresses=False)

    def test_switched_and_delayed(self):
        self.check("-e", "cpu-clock", "-c", "1000000", "--switch-events", "-D", "10")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""tacho convert: the same records in a plain file, or as JSON; damaged and disordered files mended."""

import json
import os
import struct
import subprocess
import unittest

from helpers import (CORPUS, TACHO, Case, corpus_truth, load, needs_program, needs_root,
                     needs_tracefs)
from perfdata import byte_swapped, data_section

LINES = ["-F", "comm,tid,cpu,time,event,period,ip", "-G", "--ns"]


class Convert(Case):
    def recorded(self, *options):
        path = self.path("from.data")
        result = self.tacho("record", "-q", "-e", "cpu-clock", "-c", "500000", *options, "-o", path, "--",
                            *load("busy", 150))
        self.assertEqual(result.returncode, 0, result.stderr)
        return path

    def lines(self, path, status=0):
        result = self.tacho("script", "-i", path, *LINES)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stdout.splitlines()

    def info(self, path):
        return json.loads(self.tacho("info", "--json", path).stdout)

    def convert(self, path, *options, status=0):
        result = self.tacho("convert", "-i", path, "--to", "perfdata", "-o", self.path("to.data"), *options)
        self.assertEqual(result.returncode, status, result.stderr)
        return self.path("to.data"), result.stderr


class Whole(Convert):
    def test_file(self):
        path = self.recorded("-g")
        to, said = self.convert(path)
        self.assertEqual(self.lines(to), self.lines(path))
        self.assertRegex(said, r"\[ tacho convert: [\d,]+ records in .*to.data \]")
        self.assertEqual(self.info(to)["machine"], self.info(path)["machine"])

    def test_compressed(self):
        path = self.recorded("-z")
        self.assertTrue(self.info(path)["compressed"])
        to, _ = self.convert(path)
        self.assertFalse(self.info(to)["compressed"])
        self.assertEqual(self.lines(to), self.lines(path))

    def test_compressing(self):
        path = self.recorded("-g")
        to, _ = self.convert(path, "-z", "3")
        self.assertTrue(self.info(to)["compressed"])
        self.assertEqual(self.lines(to), self.lines(path))
        self.assertLess(os.path.getsize(to), os.path.getsize(path))

    def test_pipe(self):
        path = self.recorded("-g")
        pipe = subprocess.run([TACHO, "convert", "-i", path, "--to", "perfdata", "-o", "-"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        self.assertEqual(struct.unpack_from("<8sQ", pipe), (b"PERFILE2", 16))
        with open(self.path("pipe.data"), "wb") as f:
            f.write(pipe)
        to, _ = self.convert(self.path("pipe.data"))
        self.assertEqual(self.info(to)["form"], "file")
        self.assertEqual(self.lines(to), self.lines(path))

    def test_perf_reads_it(self):
        perf = needs_program("perf")
        path = self.recorded("-g", "-z")
        to, _ = self.convert(path)
        for argv in (["script", "-F", "comm,tid,cpu,time,period,ip", "-G", "--ns"],
                     ["report", "--stats"]):
            out = [subprocess.run([perf, *argv, "-i", p], capture_output=True, text=True, check=True).stdout
                   for p in (path, to)]
            if argv[0] == "script":
                self.assertEqual(*out)
                self.assertGreater(len(out[0].splitlines()), 100)

    def test_json(self):
        path = self.recorded("-g")
        result = self.tacho("convert", "-i", path, "--to", "json", "-o", self.path("x.json"))
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("x.json"), encoding="utf-8") as f:
            said = json.load(f)
        samples = [r for r in said["records"] if r["type"] == "SAMPLE"]
        self.assertEqual(len(samples), said["recording"]["samples"])
        self.assertEqual(len(samples), len(self.lines(path)))
        self.assertEqual(sum(r["period"] for r in samples), said["recording"]["events"][0]["period"])
        times = [r["time_ns"] for r in samples]
        self.assertEqual(times, sorted(times))


class Broken(Convert):
    def test_cut(self):
        path = self.recorded("-g")
        with open(path, "rb") as f:
            data = f.read()
        offset, size = data_section(data)
        with open(self.path("cut.data"), "wb") as f:
            f.write(data[:offset + size * 2 // 3 + 4])
        to, said = self.convert(self.path("cut.data"))
        self.assertRegex(said, r"at offset \d+: the file is cut short: \d+ bytes")
        self.assertIn("what can be read was written", said)
        self.assertEqual(self.lines(to), self.lines(self.path("cut.data"), status=1))
        self.assertGreater(len(self.lines(to)), 50)
        self.assertEqual(self.info(to)["damages"], 0)

    def test_broken_record(self):
        """A sample whose call chain says that it is longer than the record is left out."""
        path = self.recorded("-g")
        with open(path, "rb") as f:
            data = bytearray(f.read())
        at, size = data_section(data)
        end, found = at + size, 0
        while at < end:
            kind, _, length = struct.unpack_from("<IHH", data, at)
            found += kind == 9
            if kind == 9 and found == 5:
                struct.pack_into("<Q", data, at + 8 + 6 * 8, 0xffffffffffff)
                break
            at += length
        with open(self.path("broken.data"), "wb") as f:
            f.write(data)
        before = len(self.lines(path))
        self.assertEqual(len(self.lines(self.path("broken.data"), status=1)), before - 1)
        self.assertIn("the call chain reaches beyond the sample",
                      " ".join(self.info(self.path("broken.data"))["odd"]))
        to, said = self.convert(self.path("broken.data"))
        self.assertIn("1 broken ones left out", said)
        self.assertEqual(len(self.lines(to)), before - 1)

    def test_out_of_order(self):
        """Rounds in the wrong order: records that come seconds too late are sorted again."""
        path = self.recorded()
        with open(path, "rb") as f:
            data = bytearray(f.read())
        offset, size = data_section(data)
        samples, others, at = [], [], offset
        while at < offset + size:
            kind, _, length = struct.unpack_from("<IHH", data, at)
            if kind == 9:
                samples.append(bytes(data[at:at + length]))
            elif kind != 68:
                others.append(bytes(data[at:at + length]))
            at += length
        finished_round = struct.pack("<IHH", 68, 0, 8)
        half = len(samples) // 2
        body = b"".join(others + samples[half:] + [finished_round] * 2 + samples[:half] + [finished_round])
        struct.pack_into("<Q", data, 48, len(body))
        struct.pack_into("<4Q", data, 72, 0, 0, 0, 0)
        with open(self.path("mixed.data"), "wb") as f:
            f.write(bytes(data[:offset]) + body)
        self.assertEqual(self.info(self.path("mixed.data"))["late"], half)
        to, _ = self.convert(self.path("mixed.data"))
        self.assertEqual(self.info(to)["late"], 0)
        self.assertEqual(self.lines(to), self.lines(path))


class Foreign(Convert):
    """Recordings of a big-endian machine, as tests/e2e/perfdata.py makes them of ours."""
    RECORDED = {
        "chains": ["-g", "-e", "cpu-clock,page-faults"],
        "group": ["-e", "{cpu-clock,page-faults}:S", "-c", "200000"],
        "data": ["-d", "-W", "-e", "page-faults", "-c", "3"],
        "stack": ["--call-graph", "dwarf,512"],
        "others": ["--switch-events", "--namespaces", "--all-cgroups", "-a"],
    }
    SHOW = ["-F", "-sym,-dso,-symoff", "--show-mmap-events", "--show-task-events",
            "--show-switch-events", "--show-namespace-events", "--show-cgroup-events"]

    def shown(self, path, *options):
        result = self.tacho("script", "-i", path, *self.SHOW, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def check(self, path):
        with open(path, "rb") as f:
            foreign = self.write("foreign.data", byte_swapped(f.read()))
        to, _ = self.convert(foreign, "-q")
        ours, theirs, converted = (self.info(x) for x in (path, foreign, to))
        self.assertTrue(theirs["foreign_byte_order"])
        self.assertFalse(converted["foreign_byte_order"])
        for key in ("events", "machine", "command", "clock", "samples", "first_ns", "last_ns"):
            self.assertEqual(ours.get(key), theirs.get(key), key)
            self.assertEqual(ours.get(key), converted.get(key), key)
        self.assertGreater(ours["samples"], 0)
        self.assertEqual(self.shown(foreign), self.shown(path))
        self.assertEqual(self.shown(to), self.shown(path))
        # The header's own times and clock are there.
        share = ["-F", "+tod", "--time", "10%/2"]
        self.assertEqual(self.shown(to, *share), self.shown(path, *share))
        perf = needs_program("perf")
        lines = [subprocess.run([perf, "script", "-f", "-i", x, *self.SHOW], text=True,
                                errors="replace", capture_output=True, check=True).stdout
                 for x in (path, to)]
        self.assertEqual(lines[0], lines[1])

    def test_is_the_same(self):
        needs_root("to record the whole system")
        for name, options in self.RECORDED.items():
            with self.subTest(name):
                path = self.path(name + ".data")
                result = self.tacho("record", "-q", *options, "-o", path, "--", *load("steps", 4, 200, 60))
                self.assertEqual(result.returncode, 0, result.stderr)
                self.check(path)

    def test_tracepoints(self):
        """Their data keeps its byte order, whatever that of the records is."""
        needs_tracefs()
        path = self.path("trace.data")
        result = self.tacho("record", "-q", "-e", "sched:sched_switch,sched:sched_process_fork", "-o",
                            path, "--", *load("steps", 4, 200, 60))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.check(path)
        self.assertIn("prev_comm=", self.shown(path))


class Fifo(Convert):
    def test_is_read_once(self):
        """A named pipe, or what a shell makes of <(…), cannot be looked at first."""
        path = self.recorded()
        for to in ("perfdata", "json"):
            with self.subTest(to):
                source = subprocess.Popen([TACHO, "convert", "-q", "-i", path, "--to", "perfdata",
                                           "-o", "-"], stdout=subprocess.PIPE)
                result = self.tacho("convert", "-i", "/dev/fd/%d" % source.stdout.fileno(),
                                    "--to", to, "-o", self.path("to"),
                                    pass_fds=[source.stdout.fileno()])
                source.stdout.close()
                source.wait()
                self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("to"), encoding="utf-8") as f:
            self.assertEqual(json.load(f)["recording"]["samples"], self.info(path)["samples"])


class Usage(Convert):
    def test_wrong_usage(self):
        path = self.recorded()
        for args, sentence in ((["-i", path], "say what to convert to"),
                               (["-i", path, "--to", "perfdata"], "say where to write it"),
                               (["-i", path, "--to", "xml", "-o", "x"], "unknown format 'xml'"),
                               (["-i", path, "--to", "perfdata", "-o", path], "both input and output"),
                               (["-i", path, "--to", "perfdata", "-o", "x", "-z", "40"], "from 1 to 22")):
            result = self.tacho("convert", *args)
            self.assertEqual(result.returncode, 2, args)
            self.assertIn(sentence, result.stderr)

    def test_output_is_input(self):
        path = self.recorded()
        with open(path, "rb") as f:
            before = f.read()
        for to in ("perfdata", "json"):
            with open(path, "rb") as f:
                result = self.tacho("convert", "-i", "-", "--to", to, "-o", path, stdin=f)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("both input and output", result.stderr)
        os.mkdir(self.path("parts"))
        os.rename(path, self.path("parts/data"))
        result = self.tacho("convert", "-i", self.path("parts"), "--to", "perfdata",
                            "-o", self.path("parts/data"))
        self.assertEqual(result.returncode, 2, result.stderr)
        with open(self.path("parts/data"), "rb") as f:
            self.assertEqual(f.read(), before)

    def test_failures(self):
        result = self.tacho("convert", "-i", self.path("none"), "--to", "json", "-o", "-")
        self.assertEqual(result.returncode, 1)
        self.assertIn("No such file", result.stderr)


class Corpus(Convert):
    def test_all(self):
        """Every real recording converts, and what comes out has the same samples."""
        perf = needs_program("perf")
        for fact in corpus_truth():
            with self.subTest(fact["file"]):
                path = os.path.join(CORPUS, fact["file"])
                to, _ = self.convert(path, "-q")
                for key in ("name", "samples", "period"):
                    self.assertEqual([e[key] for e in self.info(to)["events"]],
                                     [e[key] for e in self.info(path)["events"]])
                # What perf could not read it can read now.
                out = subprocess.run([perf, "script", "-i", to, "-F", "event,period,ip", "-G"],
                                     capture_output=True, text=True, check=True).stdout
                if not fact["perf_6_1_reads"]:
                    self.assertGreaterEqual(len(out.splitlines()), self.info(path)["samples"])


if __name__ == "__main__":
    unittest.main()

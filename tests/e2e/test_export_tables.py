#!/usr/bin/env python3
"""Downloads of tables: every value of the hits of tracepoints, as the kept recording has it."""

import csv
import io
import json
import os
import re
import subprocess
import unittest
import urllib.parse

from helpers import TACHO, Case, environment, needs_program, needs_root, needs_tracefs
from openapi import DescribedServer
from test_exports import PYTHON, needs_pandas

SIDE_BY_SIDE = True

# Fields of 1, 2, 4 and 8 bytes, with and without sign, pointers, texts of fixed and of any length, arrays.
EVENTS = ["task:task_rename", "sched:sched_process_exec", "syscalls:sys_enter_getpriority",
          "syscalls:sys_exit_getpriority", "signal:signal_generate", "sock:inet_sock_set_state",
          "net:net_dev_start_xmit"]
THREADS = ["plain", 'a,"b"=c', "=1+1", "+x", "@sum(1)", "-1", "-[Class m]", "Größe ∑", "tab\there", "a;b:c/d"]
PROGRAMS = ["=cmd|' calc'!A0", 'quote " and, comma', "Übung ☃"]
WORKLOAD = """
import ctypes, os, signal, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
for name in %r:
    libc.prctl(15, name.encode(), 0, 0, 0)
libc.prctl(15, b"python", 0, 0, 0)
for program in %r:
    os.waitpid(os.posix_spawn(program, [program], {}), 0)
for which in (0, 1, 7, 2**53 + 1, 2**64 - 1):
    libc.syscall(140, ctypes.c_ulong(which), ctypes.c_ulong(0))
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
os.kill(os.getpid(), signal.SIGUSR1)
with socket.create_server(("127.0.0.1", 0)) as listener:
    with socket.create_connection(listener.getsockname()) as one:
        one.send(b"x" * 3000)
        listener.accept()[0].recv(3000, socket.MSG_WAITALL)
"""
# Columns of all tables; a field of that name has field_ in front.
COMMON = ("time_s", "end_s", "pid", "tid", "comm", "cpu", "function", "module")
FRAMED = ("time", "weight", "thread", "stack", "event", "address")
INTEGERS = {(1, 0): "uint8", (1, 1): "int8", (2, 0): "uint16", (2, 1): "int16", (4, 0): "uint32", (4, 1): "int32",
            (8, 0): "uint64", (8, 1): "int64"}
# A text as CSV has it: no formula, nothing that a terminal would take for a command.
DISARMED = {"=1+1": "'=1+1", "+x": "'+x", "@sum(1)": "'@sum(1)", "-1": "'-1", "tab\there": "tab?here",
            "=cmd|' calc'!A0": "'=cmd|' calc'!A0"}
READ_H5 = """
import json, sys, warnings
import h5py, pandas, tables
warnings.simplefilter("error")
warnings.simplefilter("ignore", tables.NaturalNameWarning)
path, uuid = sys.argv[1:]
plain = lambda v: v.decode() if isinstance(v, bytes) else v.item() if hasattr(v, "item") else v
out = {}
with h5py.File(path, "r") as f:
    for key, table in f["runs"][uuid]["tables"].items():
        out[key] = {"names": list(table.dtype.names), "attributes": {k: str(v) for k, v in table.attrs.items()},
                    "h5py": {n: str(table.dtype[n]) for n in table.dtype.names},
                    "rows": [[plain(v) for v in row] for row in table[:]]}
for key, table in out.items():
    frame = pandas.read_hdf(path, "/runs/%s/tables/%s" % (uuid, key))
    table["pandas"] = {n: str(t) for n, t in frame.dtypes.items()}
    table["frame"] = [[plain(v) for v in row] for row in frame.itertuples(index=False, name=None)]
print(json.dumps(out))
"""


def column_of(field):
    return "field_" + field if field in COMMON + FRAMED else field


def nanoseconds(seconds):
    """Of a decimal number with nine digits behind the point."""
    whole, _, part = seconds.partition(".")
    assert len(part) == 9, seconds
    return int(whole + part)


def fields_of(event):
    """{field: (type, bytes, signed)} from the kernel's format, without the common ones."""
    with open("/sys/kernel/tracing/events/%s/format" % event.replace(":", "/")) as text:
        found = re.findall(r"field:(.*?) ?(\w+)(?:\[\d*\])?;\toffset:\d+;\tsize:(\d+);\tsigned:(\d)", text.read())
    return {name: (kind, int(size), int(signed)) for kind, name, size, signed in found
            if not name.startswith("common_")}


def available():
    needs_tracefs()
    needs_root("for tracepoints")
    return [e for e in EVENTS if os.path.isdir("/sys/kernel/tracing/events/" + e.replace(":", "/"))]


class Tables(Case):
    """One run with tracepoints, and the samples of its kept recording as `tacho script` reads them."""

    @classmethod
    def setUpClass(cls):
        cls.events = available()
        cls.server = DescribedServer().start()
        cls.addClassCleanup(cls.server.close)
        cls.place = cls.server.root
        for program in PROGRAMS:
            os.symlink("/bin/true", os.path.join(cls.place, program))
        run = cls.server.run(cls.server.session("tables"), [PYTHON, "-c", WORKLOAD % (THREADS, PROGRAMS)],
                             tool="record", keep_raw=True, cwd=cls.place,
                             sample={"events": cls.events, "period": 1, "callgraph": "fp"})
        cls.run_json = cls.server.wait_run(run["uuid"])
        assert cls.run_json["state"] == "done", cls.run_json
        cls.kept = os.path.join(cls.place, "kept.data")
        with open(cls.kept, "wb") as file:
            file.write(cls.get("data"))
        cls.truth = {event: [] for event in cls.events}
        done = subprocess.run([TACHO, "script", "-i", cls.kept, "--json"], stdout=subprocess.PIPE, check=True,
                              text=True, env=environment(cls.server.home))
        for line in done.stdout.splitlines():
            sample = json.loads(line)
            if sample["type"] == "SAMPLE":
                cls.truth[sample["event"]].append(sample)

    @classmethod
    def get(cls, format, **query):
        return cls.server.get_bytes("benchmark/%s.%s" % (cls.run_json["uuid"], format), query)

    def rows(self, what, **query):
        return list(csv.DictReader(io.StringIO(self.get("csv", what=what, **query).decode(), newline="")))


    def lines(self, what, **query):
        return [json.loads(line) for line in self.get("jsonl", what=what, **query).decode().splitlines()]

    @property
    def start(self):
        """The start of the run by the clock of the recording: the same for all tables."""
        found = {min(s["time_ns"] for s in self.truth[e]) - nanoseconds(self.rows(e)[0]["time_s"])
                 for e in self.events}
        self.assertEqual(len(found), 1, found)
        return found.pop()

    def expected(self, event):
        """(nanoseconds, pid, tid, cpu, weight, the fields by their columns), by time."""
        start = self.start
        return sorted((([s["time_ns"] - start, s["pid"], s["tid"], s["cpu"], s["period"],
                         {column_of(name): value for name, value in s["fields"].items()}])
                       for s in self.truth[event]), key=lambda row: row[:3])

    def test_the_run_has_what_the_tests_are_about(self):
        names = {s["fields"]["newcomm"] for s in self.truth["task:task_rename"]}
        self.assertLessEqual(set(THREADS), names)
        files = {s["fields"]["filename"] for s in self.truth["sched:sched_process_exec"]}
        self.assertLessEqual(set(PROGRAMS), files)
        asked = {s["fields"]["which"] for s in self.truth["syscalls:sys_enter_getpriority"]}
        self.assertLessEqual({2**53 + 1, 2**64 - 1}, asked)
        for event in self.events:
            self.assertTrue(self.truth[event], event)
            self.assertEqual(set(self.truth[event][0]["fields"]), set(fields_of(event)), event)

    def test_every_value_as_csv(self):
        for event in self.events:
            fields, expected = fields_of(event), self.expected(event)
            rows = self.rows(event)
            self.assertEqual(list(rows[0]), ["time_s", "pid", "tid", "comm", "cpu", "weight", *map(column_of, fields),
                                             "function", "module", "stack"])
            self.assertEqual(len(rows), len(expected), event)
            times = [nanoseconds(r["time_s"]) for r in rows]
            self.assertEqual(times, sorted(times))
            found = sorted(([nanoseconds(r["time_s"]), *(int(r[c]) for c in ("pid", "tid", "cpu", "weight")),
                             {column_of(f): r[column_of(f)] for f in fields}] for r in rows), key=lambda r: r[:3])
            for row in expected:
                row[-1] = {column: DISARMED.get(v, v) if isinstance(v, str) else str(v)
                           for column, v in row[-1].items()}
            self.assertEqual(found, expected, event)

    def test_every_value_as_json_lines(self):
        for event in self.events:
            lines = self.lines(event)
            found = [[nanoseconds("%.9f" % r["time_s"]), r["pid"], r["tid"], r["cpu"], r["weight"],
                      {column_of(f): r[column_of(f)] for f in fields_of(event)}] for r in lines]
            self.assertEqual(sorted(found, key=lambda r: r[:3]), self.expected(event), event)
            self.assertEqual([list(r) for r in lines], [list(self.rows(event)[0])] * len(lines))

    def test_names_and_stacks_are_those_of_the_samples(self):
        columns = ("time_s", "pid", "tid", "comm", "cpu", "weight", "function", "module", "stack")
        samples, start = self.rows("samples"), self.start
        self.assertEqual(len(samples), sum(map(len, self.truth.values())))
        for event in self.events:
            self.assertEqual([[r[c] for c in columns] for r in self.rows(event)],
                             [[r[c] for c in columns] for r in samples if r["event"] == event], event)
            named = {nanoseconds(r["time_s"]): r["function"] for r in self.rows(event)}
            for s in self.truth[event]:
                self.assertEqual(named[s["time_ns"] - start], s["stack"][0]["function"] or "")
        self.assertTrue(any(";" in r["stack"] and r["function"] and r["module"] for r in samples))
        lines = [{key: "" if v is None else v if isinstance(v, str) else str(v) for key, v in r.items()}
                 for r in self.lines("samples")]
        for row, line in zip(samples, lines):
            row["time_s"] = str(float(row["time_s"]))
            line["comm"] = DISARMED.get(line["comm"], line["comm"])
        self.assertEqual(lines, samples)

    def test_every_value_as_hdf5(self):
        needs_pandas()
        path = self.write("it.h5", self.get("h5"))
        done = subprocess.run([PYTHON, "-c", READ_H5, path, self.run_json["uuid"]], stdout=subprocess.PIPE, check=True)
        tables = json.loads(done.stdout)
        self.assertEqual(set(tables), {e.replace(":", "_") for e in self.events})
        for event in self.events:
            table, fields = tables[event.replace(":", "_")], fields_of(event)
            self.check_types(table, fields)
            self.assertEqual(table["attributes"]["name"], event)
            self.assertTrue(table["attributes"]["meaning"])
            self.assertEqual(table["attributes"]["time_s.unit"], "s")
            found = []
            for row, framed in zip(table["rows"], table["frame"]):
                self.assertEqual(row, framed)
                r = dict(zip(table["names"], row))
                for f, (kind, size, _) in fields.items():
                    if self.is_pointer(kind):
                        r[column_of(f)] = hex(r[column_of(f)])
                found.append([round(r["time_s"] * 1e9), r["pid"], r["tid"], r["cpu"], r["weight"],
                              {column_of(f): r[column_of(f)] for f in fields}])
            self.assertEqual(sorted(found, key=lambda r: r[:3]), self.expected(event), event)

    def test_names_of_an_imported_file_that_are_no_names(self):
        """Slashes, dots and bytes that are no UTF-8, in names of events and in types of fields."""
        needs_pandas()
        with open(self.kept, "rb") as file:
            data = file.read()
        for good, bad in ((b"sched:sched_process_exec", b"../a//b/group/../\xff_exec/"),
                          (b"signal:signal_generate", b"..%2f\xff\xfe/\x01/group///////"),
                          (b"field:int sig;", b"field:\xff\xfet sig;")):
            self.assertEqual(len(good), len(bad))
            self.assertIn(good, data)
            data = data.replace(good, bad)
        run = self.server.wait_run(self.server.post("import", data, status=202)["uuid"])
        self.assertEqual(run["state"], "done", run)
        tables = self.server.get("benchmark/%s/table" % run["uuid"])["tables"]
        self.assertEqual(len(tables), len(self.events))
        for table in tables:
            with self.subTest(table=table["name"]):
                name = urllib.parse.quote(table["name"], safe="")
                rows = self.server.get("benchmark/%s/table/%s" % (run["uuid"], name), {"limit": 0})
                self.assertEqual(rows["matched"], table["rows"])
                csv = self.server.get_bytes("benchmark/%s.csv" % run["uuid"], {"what": table["name"]})
                self.assertGreater(csv.count(b"\n"), table["rows"])
        path = self.write("names.h5", self.server.get_bytes("benchmark/%s.h5" % run["uuid"]))
        done = subprocess.run([PYTHON, "-c", READ_H5, path, run["uuid"]], stdout=subprocess.PIPE, check=True)
        self.assertEqual(sorted(len(t["frame"]) for t in json.loads(done.stdout).values()),
                         sorted(t["rows"] for t in tables))

    @staticmethod
    def is_pointer(kind):
        return kind.endswith("*")

    def check_types(self, table, fields):
        types = {"time_s": "float64", "pid": "uint32", "tid": "uint32", "cpu": "uint32", "weight": "uint64"}
        for name, (kind, size, signed) in fields.items():
            number = "[" not in kind and size in (1, 2, 4, 8) and not kind.startswith("char")
            number = number and (size != 4 or name not in ("saddr", "daddr"))  # arrays of bytes
            types[column_of(name)] = INTEGERS[size, 0 if self.is_pointer(kind) else signed] if number else "|S"
            self.assertEqual(table["attributes"][column_of(name) + ".meaning"].split("[")[0].strip(), kind.split("[")[0])
        types.update(function="uint32", stack="uint32")
        self.assertEqual(table["names"], list(types))
        for name, wanted in types.items():
            if wanted == "|S":
                self.assertRegex(table["h5py"][name], r"^[|]S\d+$")
                longest = max(len(row[table["names"].index(name)].encode()) for row in table["rows"])
                self.assertEqual(int(table["h5py"][name][2:]), max(longest, 1))
            else:
                self.assertEqual((table["h5py"][name], table["pandas"][name]), (wanted, wanted), name)

    def test_selections(self):
        event = "task:task_rename"
        rows = self.rows(event)
        middle = nanoseconds(rows[len(rows) // 2]["time_s"])
        before = [r for r in rows if nanoseconds(r["time_s"]) < middle]
        self.assertEqual(self.rows(event, to="%dns" % middle), before)
        self.assertEqual(before + self.rows(event, **{"from": "%dns" % middle}), rows)
        self.assertEqual(len(self.lines(event, to="%dns" % middle)), len(before))
        tid = rows[0]["tid"]
        self.assertEqual(self.rows(event, threads=tid), [r for r in rows if r["tid"] == tid])
        self.assertEqual(self.rows(event, cpus=rows[0]["cpu"]), [r for r in rows if r["cpu"] == rows[0]["cpu"]])
        self.assertEqual(self.rows(event, event=event), rows)
        self.assertEqual(self.rows(event, event="sched:sched_process_exec"), [])
        execs = self.rows(event, frames="begin_new_exec")
        self.assertEqual(execs, [r for r in rows if "begin_new_exec" in r["stack"]])

    def test_an_unknown_table_is_told_with_those_that_there_are(self):
        for format in ("csv", "jsonl"):
            for what, says in (("task:task_renam", "did you mean 'task:task_rename'"), ("x", "it has counters, samples"),
                               ("\x1b[31m", "no table '?[31m'"), ("", "no table ''")):
                answer = self.server.expect(400, "GET", "benchmark/%s.%s" % (self.run_json["uuid"], format),
                                            query={"what": what})
                self.assertIn(says, answer.message())

    def test_counters_as_json_lines(self):
        run = self.server.run(self.server.session("counters"), ["true"], tool="stat", interval=0.01,
                              events=["page-faults", "task-clock"])["uuid"]
        self.assertEqual(self.server.wait_run(run)["state"], "done")
        table = csv.DictReader(io.StringIO(self.server.get_bytes("benchmark/%s.csv" % run).decode()))
        wanted = [(float(row["time_s"]), float(row["interval_s"]), name.split(" ")[0], float(row[name]))
                  for row in table for name in table.fieldnames[2:] if row[name]]
        lines = self.server.get_bytes("benchmark/%s.jsonl" % run, {"what": "counters"}).decode().splitlines()
        found = [json.loads(line) for line in lines]
        self.assertEqual([(r["time_s"], r["interval_s"], r["counter"], r["value"]) for r in found], wanted)
        self.assertEqual({(r["counter"], r["unit"]) for r in found}, {("page-faults", None), ("task-clock", "msec")})

    def test_perf_prints_the_same(self):
        perf = needs_program("perf")
        done = subprocess.run([perf, "script", "-i", self.kept, "-F", "event,trace"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        printed = {event: re.findall(r"(?m)^ *%s: +(.*?) *$" % event, done.stdout)
                   for event in ("task:task_rename", "sched:sched_process_exec")}
        own = ["pid=%(field_pid)d oldcomm=%(oldcomm)s newcomm=%(newcomm)s oom_score_adj=%(oom_score_adj)d" % r
               for r in self.lines("task:task_rename")]
        self.assertEqual(sorted(printed["task:task_rename"]), sorted(own))
        own = ["filename=%(filename)s pid=%(field_pid)d old_pid=%(old_pid)d" % r
               for r in self.lines("sched:sched_process_exec")]
        self.assertEqual(sorted(printed["sched:sched_process_exec"]), sorted(own))


if __name__ == "__main__":
    unittest.main()

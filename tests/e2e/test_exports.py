#!/usr/bin/env python3
"""Downloads of runs: every format has what was measured, and the programs that people use read it."""

import csv
import glob
import html.parser
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.dom.minidom

from helpers import CORPUS, Case, compiled, corpus_truth, eventually, needs_program
from server import Server, ServerCase
from shapes import shape

SIDE_BY_SIDE = True

PYTHON = "/usr/bin/python3"  # Debian's, which has the packages
READ_H5 = """
import json, sys, warnings
import h5py, pandas, tables
warnings.simplefilter("error")
warnings.simplefilter("ignore", tables.NaturalNameWarning)
path = sys.argv[1]
out = {"runs": {}}
with h5py.File(path, "r") as f:
    for uuid, group in f["runs"].items():
        out["runs"][uuid] = {"attributes": {k: str(v) for k, v in group.attrs.items()},
                             "tables": {k: list(v.dtype.names) for k, v in group.items()},
                             "rows": {k: len(v) for k, v in group.items()}}
key = sys.argv[2]
samples = pandas.read_hdf(path, key + "samples")
functions = pandas.read_hdf(path, key + "functions").set_index("function")["name"]
counters = pandas.read_hdf(path, key + "counters")
stacks = pandas.read_hdf(path, key + "stacks").set_index("stack")
out["sampled"] = samples.groupby(samples["function"].map(functions))["weight"].sum().to_dict()
out["columns"] = list(samples.columns)
out["counters"] = counters.sum(skipna=True).to_dict()
out["sorted"] = bool(samples["time_s"].is_monotonic_increasing)
out["stacks"] = bool(samples["stack"].isin(stacks.index).all())
print(json.dumps(out, default=float))
"""


def needs_pandas():
    if subprocess.run([PYTHON, "-c", "import h5py, pandas, tables"], stderr=subprocess.DEVNULL).returncode:
        raise unittest.SkipTest("needs python3-h5py, python3-pandas and python3-tables")


def read_h5(path, key=""):
    needs_pandas()
    done = subprocess.run([PYTHON, "-c", READ_H5, path, key], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def folded_weights(text):
    """{stack: weight}"""
    found = {}
    for line in text.splitlines():
        stack, _, weight = line.rpartition(" ")
        found[stack] = int(weight)
    return found


def frames_of(svg):
    """What stands in the frames of a flame graph, in their order."""
    return re.findall(r"<title>([^<]*)</title>", svg)[1:]


class OneRun(Case):
    """Tests that look at one run of a server that they share."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server().start()
        cls.addClassCleanup(cls.server.close)
        cls.session = cls.server.session("downloads")

    @classmethod
    def measured(cls, workload, **plan):
        run = cls.server.run(cls.session, workload, **plan)
        run = cls.server.wait_run(run["uuid"])
        assert run["state"] == "done", run
        return run

    def get(self, format, run=None, **query):
        return self.server.get_bytes("benchmark/%s.%s" % ((run or self.run_json)["uuid"], format), query)

    def saved(self, format, run=None, **query):
        return self.write("it." + format, self.get(format, run, **query))


class Formats(OneRun):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Again and again until there are rows enough, however rarely the collector could read its counters.
        place = tempfile.TemporaryDirectory(prefix="tacho-enough-")
        cls.addClassCleanup(place.cleanup)
        enough = os.path.join(place.name, "enough")
        run = cls.server.run(cls.session, ["sh", "-c", 'until [ -e "$1" ]; do "$0"; done', shape(), enough],
                             tool="both", events=["task-clock", "page-faults"], interval=0.01,
                             sample={"events": ["cpu-clock"], "frequency": 2000})
        cls.server.wait_state(run["uuid"], "running")
        csv_path = "benchmark/%s.csv" % run["uuid"]
        assert eventually(lambda: cls.server.get_bytes(csv_path).count(b"\n") > 1 + 3 and
                          cls.server.benchmark(run["uuid"])["samples"] > 100)
        with open(enough, "w"):
            pass
        cls.run_json = cls.server.wait_run(run["uuid"])
        assert cls.run_json["state"] == "done", cls.run_json

    def rows(self, **query):
        return list(csv.DictReader(io.StringIO(self.get("csv", **query).decode())))

    def test_counters_as_csv(self):
        rows = self.rows()
        self.assertGreater(len(rows), 3)
        self.assertEqual(list(rows[0])[:2], ["time_s", "interval_s"])
        names = list(rows[0])[2:]
        self.assertTrue(any(n.startswith("task-clock") for n in names), names)
        self.assertIn("page-faults", names)
        times = [float(r["time_s"]) for r in rows]
        self.assertEqual(times, sorted(times))
        timeline = self.server.get("benchmark/%s/timeline" % self.run_json["uuid"], {"pixels": 1})
        faults = [c for c in timeline["counters"] if c["name"] == "page-faults"]
        self.assertEqual(sum(int(r["page-faults"] or 0) for r in rows), round(faults[0]["sum"][0]))

    def test_samples_as_csv(self):
        rows = self.rows(what="samples")
        self.assertEqual(len(rows), self.run_json["samples"])
        self.assertEqual(set(r["event"] for r in rows), {"cpu-clock"})
        inner = [r for r in rows if r["function"] == "work" or ";work" in r["stack"]]
        self.assertGreater(len(inner), 0.8 * len(rows))
        middle = float(rows[len(rows) // 2]["time_s"])
        part = self.rows(what="samples", to="%dns" % round(middle * 1e9))
        self.assertEqual(len(part), sum(float(r["time_s"]) < middle for r in rows))
        tid = rows[0]["tid"]
        self.assertEqual(len(self.rows(what="samples", threads=tid)), sum(r["tid"] == tid for r in rows))
        self.assertEqual(self.rows(what="samples", threads="1"), [])

    def test_folded_has_all_weight(self):
        weights = folded_weights(self.get("folded").decode())
        rows = self.rows(what="samples")
        self.assertEqual(sum(weights.values()), sum(int(r["weight"]) for r in rows))
        flame = self.server.get("benchmark/%s/flame" % self.run_json["uuid"])
        self.assertEqual(sum(weights.values()), flame["total"])

    def test_svg(self):
        svg = self.get("svg").decode()
        self.assertTrue(svg.startswith("<?xml"), svg[:80])
        self.assertTrue(any("work" in f for f in frames_of(svg)))

    def test_hdf5(self):
        path = self.saved("h5")
        found = read_h5(path)
        rows = self.rows(what="samples")
        uuid = self.run_json["uuid"]
        self.assertEqual(list(found["runs"]), [uuid])
        self.assertEqual(found["runs"][uuid]["attributes"]["state"], "done")
        self.assertEqual(found["runs"][uuid]["rows"]["samples"], len(rows))
        self.assertEqual(found["columns"], ["time_s", "event", "pid", "tid", "cpu", "weight", "address",
                                            "stack", "function"])
        self.assertTrue(found["sorted"] and found["stacks"])
        by_function = {}
        for r in rows:
            by_function[r["function"]] = by_function.get(r["function"], 0) + int(r["weight"])
        by_function.pop("", None)
        self.assertEqual(found["sampled"], by_function)
        self.assertEqual(found["counters"]["page-faults"],
                         sum(int(r["page-faults"] or 0) for r in self.rows()))
        # By the whole name, too.
        self.assertEqual(read_h5(path, "/runs/%s/" % uuid)["sampled"], found["sampled"])

    def test_hdf5_of_a_session(self):
        other = self.measured(["true"], tool="stat", events=["page-faults"])
        path = self.write("all.h5", self.server.get_bytes("session/%s.h5" % self.session))
        found = read_h5(path, "/runs/%s/" % self.run_json["uuid"])
        self.assertLessEqual({self.run_json["uuid"], other["uuid"]}, set(found["runs"]))
        self.assertEqual(found["runs"][other["uuid"]]["rows"]["samples"], 0)

    def test_report_page(self):
        page = self.get("html").decode()
        names = []

        class Parser(html.parser.HTMLParser):
            def handle_starttag(self, tag, attrs):
                names.append(tag)
                for name, value in attrs:
                    if name in ("src", "href"):
                        assert value.startswith("data:"), value[:100]
        Parser(convert_charrefs=True).feed(page)
        self.assertIn("iframe", names)
        self.assertIn("figure", names)
        self.assertNotIn("script", names)
        self.assertIn("page-faults", page)

    def test_made_perf_data_is_read_by_perf(self):
        perf = needs_program("perf")
        answer = self.server.expect(200, "GET", "benchmark/%s.data" % self.run_json["uuid"])
        self.assertIn("X-Tacho-Lacks", answer.headers)
        path = self.write("made.data", answer.body)
        done = subprocess.run([perf, "report", "-i", path, "--stdio", "--no-children", "-g", "none"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\bshape\b")
        done = subprocess.run([perf, "script", "-i", path, "-F", "comm"], stdout=subprocess.PIPE, text=True)
        self.assertEqual(len(done.stdout.splitlines()), self.run_json["samples"])
        own = self.tacho("info", "-i", path, "--json")
        self.assertEqual(own.returncode, 0, own.stderr)

    def test_unknown_parameters_are_told(self):
        for path in ("csv?form=1", "log?from=1", "h5?what=samples", "svg?event=none", "csv?what=x",
                     "folded?threads=a", "svg?from=2s&to=1s"):
            answer = self.server.request("GET", "benchmark/%s.%s" % (self.run_json["uuid"], path))
            self.assertEqual(answer.status, 400, path)
            self.assertRegex(answer.message(), r"\w")
        none = "00000000-0000-4000-8000-000000000000"
        for format in ("csv", "jsonl", "h5", "data", "folded", "svg", "html", "log"):
            self.assertEqual(self.server.request("GET", "benchmark/%s.%s" % (none, format)).status, 404)

    def test_no_files_stay(self):
        for format in ("csv", "jsonl", "h5", "data", "folded", "svg", "html", "log"):
            self.get(format)
        self.assertEqual([n for n in os.listdir(self.server.data) if n.startswith("export")], [])


class Output(OneRun):
    def test_streams(self):
        """Each piece is written when the one before was seen in the log: so they are read in this order."""
        script = """wait_for() { until [ -e "$1" ]; do sleep .01; done; }
            printf 'one\\ntw'; wait_for "$1"; printf 'bad\\377\\n' >&2; wait_for "$2"; printf 'o\\n'"""
        run = self.server.run(self.session, ["sh", "-c", script, "sh", self.path("first"), self.path("second")],
                              tool="stat", events=["page-faults"])
        self.server.wait_state(run["uuid"], "running")
        for stream, text, name in (("stdout", b"one\ntw", "first"), ("stderr", b"bad\xff\n", "second")):
            self.assertTrue(eventually(lambda: self.get("log", run, stream=stream) == text),
                            self.get("log", run))
            self.write(name, "")
        self.assertEqual(self.server.wait_run(run["uuid"])["state"], "done")
        self.assertEqual(self.get("log", run, stream="stdout"), b"one\ntwo\n")
        self.assertEqual(self.get("log", run, stream="stderr"), b"bad\xff\n")
        self.assertEqual(self.get("log", run, stream="stdout", offset=4), b"two\n")
        self.assertEqual(self.get("log", run), b"one\ntw\n[stderr] bad\xff\no\n")

    def test_of_a_run_that_goes_on(self):
        run = self.server.run(self.session, ["sh", "-c", "echo here; sleep infinity"], tool="both",
                              events=["page-faults"])
        self.assertTrue(eventually(lambda: self.get("log", run, stream="stdout") == b"here\n"))
        for format in ("csv", "jsonl", "h5", "folded", "html", "log"):
            self.get(format, run)
        answer = self.server.request("GET", "benchmark/%s.data" % run["uuid"])
        self.assertEqual(answer.status, 409)
        self.server.post("benchmark/%s/cancel" % run["uuid"])
        self.server.wait_run(run["uuid"])
        self.assertEqual(self.get("log", run, stream="stdout"), b"here\n")


class Names(OneRun):
    """What a page or picture shows came from outside."""

    def test_markup_in_every_text(self):
        evil = "<script>alert(1)</script>\"'&"
        run = self.measured(["sh", "-c", "exit 0 # " + evil], tool="both", events=["page-faults"],
                            description=evil, note=evil, tags=[evil],
                            env={"EVIL": evil})
        for format in ("html",):
            text = self.get(format, run).decode()
            self.assertNotIn("<script>alert", text)
            self.assertIn("&lt;script&gt;alert(1)", text)


    def test_names_of_functions(self):
        """What a program calls its functions is neither a formula, nor a control, nor markup."""
        plain = "h" * 40
        path = compiled("named", """
            #include <time.h>
            volatile unsigned long sum;
            __attribute__((noinline)) void %s(int n) { for (int i = 0; i < n; i++) sum += i; }
            int main(void) { struct timespec t; do { %s(100000); clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); }
                while (!t.tv_sec && t.tv_nsec < 200000000); }""" % (plain, plain), "-O1")
        with open(path, "rb") as file:
            program = file.read()
        for name, shown in ((b"=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"), (b"@sum(1)", "'@sum(1)"),
                            (b"-1+1", "'-1+1"), (b"-[Class method]", "-[Class method]"),
                            (b"a\x1b[31m\r\n\xff\x9b,\"", "a?[31m????,\""),
                            (b"<script>alert(1)</script>]]>&", "<script>alert(1)</script>]]>&")):
            with self.subTest(name):
                evil = self.write("evil", "")
                with open(evil, "wb") as file:
                    file.write(program.replace(plain.encode(), name.ljust(40, b"_")))
                os.chmod(evil, 0o755)
                run = self.measured([evil], tool="record", sample={"events": ["cpu-clock:u"]})
                text = self.get("csv", run, what="samples").decode()
                self.assertFalse(set(text) & set(map(chr, range(32))) - {"\n"})
                functions = {row["function"] for row in csv.DictReader(io.StringIO(text))}
                self.assertIn(shown.ljust(40 + len(shown) - len(name), "_"), functions)
                xml.dom.minidom.parseString(self.get("svg", run))
                self.assertNotIn("<script>alert", self.get("html", run).decode())


class Imported(OneRun):
    """A recording that was uploaded is the recording."""

    @classmethod
    def imported(cls, path, keep=True, name=None):
        with open(path, "rb") as body:
            run = cls.server.expect(202, "POST", "import", body.read(), headers={
                "Content-Type": "application/octet-stream"}, query={
                    "session": cls.session, "name": name or os.path.basename(path),
                    "keep_raw": "true" if keep else "false"}).json()
        return cls.server.wait_run(run["uuid"], 120)

    def recorded(self, *options, program=None):
        path = self.path("perf.data")
        done = self.tacho("record", "-q", "-F", 2000, "-e", "cpu-clock", "-g", "-o", path, *options, "--",
                          program or shape())
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def own_folded(self, path):
        done = self.tacho("convert", "-q", "-i", path, "--to", "folded", "-o", "-")
        # Of a damaged file comes what can be read.
        self.assertTrue(done.returncode == 0 or "what can be read is shown" in done.stderr, done.stderr)
        return done.stdout

    def test_same_as_the_command_line(self):
        path = self.recorded()
        run = self.imported(path)
        self.assertEqual(run["state"], "done", run)
        kept = self.server.expect(200, "GET", "benchmark/%s.data" % run["uuid"])
        with open(path, "rb") as file:
            self.assertEqual(kept.body, file.read())
        self.assertNotIn("X-Tacho-Lacks", kept.headers)
        self.server.expect(304, "GET", "benchmark/%s.data" % run["uuid"],
                           headers={"If-None-Match": kept.headers["ETag"]})
        self.assertEqual(self.get("folded", run).decode(), self.own_folded(path))
        done = self.tacho("flame", "-q", "-i", path, "-o", self.path("own.svg"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("own.svg")) as own:
            self.assertEqual(frames_of(self.get("svg", run).decode()), frames_of(own.read()))

    def test_kept_perf_data_is_read_by_perf(self):
        perf = needs_program("perf")
        run = self.imported(self.recorded())
        path = self.saved("data", run)
        done = subprocess.run([perf, "report", "-i", path, "--stdio"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\bwork\b")

    def test_corpus_has_the_same_counts(self):
        corpus_truth()
        paths = sorted(p for p in glob.glob(os.path.join(CORPUS, "*")) if not p.endswith(".md"))
        compared = 0
        for path in paths:
            with self.subTest(file=os.path.basename(path)):
                info = self.tacho("info", "-i", path, "--json")
                run = self.imported(path)
                if not info.stdout:
                    # What cannot be read by one way is not read by the other.
                    self.assertEqual(run["state"], "failed", run)
                    continue
                self.assertEqual(run["state"], "done", run["error"])
                with open(path, "rb") as file:
                    self.assertEqual(self.get("data", run), file.read())
                self.assertEqual(self.get("folded", run).decode(), self.own_folded(path))
                info, counts = json.loads(info.stdout), {}
                self.assertEqual(run["samples"], info["samples"])
                for row in csv.DictReader(io.StringIO(self.get("csv", run, what="samples").decode())):
                    counts[row["event"]] = counts.get(row["event"], 0) + 1
                own = {}
                for event in info["events"]:
                    own[event["name"]] = own.get(event["name"], 0) + event["samples"]
                self.assertEqual(counts, {name: n for name, n in own.items() if n})
                compared += 1
        self.assertGreater(compared, len(paths) // 2)


class Kept(ServerCase):
    """Nothing that was measured depends on what lies on the disk later."""

    def answers(self, runs, function):
        first, second = runs
        ask = self.server.get
        return {
            "folded": [self.server.get_bytes("benchmark/%s.folded" % r) for r in runs],
            "flame": [ask("benchmark/%s/flame" % r) for r in runs],
            "diff": ask("diff", {"before": first, "after": second}),
            "annotate": ask("benchmark/%s/annotate" % first, {"function": function}),
        }

    def test_program_is_gone(self):
        place = self.path("program")
        runs = []
        for extra in ("sink++;", "for (int i = 0; i < 2000; i++) sink += i;"):
            shutil.copy(shape("kept", extra), place)
            run = self.server.run(self.server.session(), [place], tool="record",
                                  sample={"events": ["cpu-clock"], "frequency": 2000, "callgraph": "fp"})
            run = self.server.wait_run(run["uuid"])
            self.assertEqual(run["state"], "done", run)
            runs.append(run["uuid"])
        before = self.answers(runs, "work")
        self.assertIn(b"work", before["folded"][0])
        self.assertTrue(before["annotate"])
        os.unlink(place)
        shutil.copy(shutil.which("true"), place)
        self.server.restart()
        self.assertEqual(self.answers(runs, "work"), before)
        os.unlink(place)
        self.server.restart()
        self.assertEqual(self.answers(runs, "work"), before)


if __name__ == "__main__":
    unittest.main()

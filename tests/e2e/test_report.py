"""tacho report: its numbers beside perf's, its options, and the browser under tmux."""

import json
import os
import re
import shlex
import signal
import subprocess
import unittest

from helpers import (TACHO, Case, compiled, environment, eventually, in_terminal, needs_program, plain)

SIDE_BY_SIDE = True

# All in spin(): 70 % by way of hot, 15 % of cold, 10 % of a recursion, 5 % in a thread of another name. One loop,
# because two of the same text need not be equally fast.
SHAPE_C = r"""
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
static volatile long sink;
static void *volatile frame; /* a function that asks for its frame has one, also a leaf */
#define FRAME frame = __builtin_frame_address(0)
__attribute__((noinline)) void spin(long n) { FRAME; for (long i = 0; i < n; i++) sink += i; }
__attribute__((noinline)) void hot(long n) { spin(n); sink++; }
__attribute__((noinline)) void cold(long n) { spin(n); sink++; }
__attribute__((noinline)) void recurse(int depth, long n)
{
	if (depth)
		recurse(depth - 1, n);
	else
		spin(n);
	sink++;
}
static void *thread(void *arg) { prctl(PR_SET_NAME, "other"); cold((long)arg); return NULL; }
int main(int argc, char **argv)
{
	long n = atol(argv[1]);
	pthread_t t;
	pthread_create(&t, NULL, thread, (void *)(n * 5));
	pthread_join(t, NULL);
	for (int i = 0; i < 10; i++) { hot(n * 7); cold(n * 2 - n / 2); recurse(6, n); }
	return 0;
}
"""
SHAPE_FLAGS = ("-g", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-pthread")
CPP = """#include <map>
#include <regex>
#include <string>
int main() { std::map<std::string, std::regex> m; m.emplace("a", std::regex("(a|b)+c")); return m.size(); }
"""


def shape(n=3000000):
    return [compiled("shape", SHAPE_C, *SHAPE_FLAGS), str(n)]


class ReportCase(Case):
    PERF_RECORD = ("record", "--no-bpf-event", "-N")  # its cache of files is not for several at a time

    def record(self, argv, *options, tool="tacho", name="x.data", **more):
        path = self.path(name)
        program = [TACHO, "record"] if tool == "tacho" else [needs_program("perf"), *self.PERF_RECORD]
        result = subprocess.run([*program, "-q", "-e", "cpu-clock", *options, "-o", path, "--", *argv],
                                env=environment(self.home), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                text=True, **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return path

    def report(self, path, *options, status=0, **more):
        result = self.tacho("report", "-i", path, *options, **more)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stdout

    def json(self, path, *options):
        return json.loads(self.report(path, "--json", *options))

    def entries(self, path, *options):
        return self.json(path, *options)["sections"][0]["entries"]

    def shares(self, path, *options):
        """{symbol: (children or None, self)} in percent"""
        return {e["symbol"]: (e.get("total_percent"), e["self_percent"])
                for e in self.entries(path, "-s", "sym", *options)}

    def rows(self, text):
        return [[cell.strip() for cell in line.split("|")] for line in text.splitlines()
                if line.strip() and line[0] != "#" and "|" in line]

    def perf_rows(self, path, *options):
        result = subprocess.run([needs_program("perf"), "report", "--stdio", "--no-inline", "-f", "-t", "|", "-g",
                                 "none", "-i", path, *options], env=environment(self.home), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        return self.rows(result.stdout)

    def assertAgrees(self, path, options, count, tolerance, deeper=False):
        """The first entries of perf's are ours too, with the same shares in all columns of shares. @deeper: callers
        may have more, because perf at times gives up on stacks that begin in a library (some runs, not others)."""
        theirs = self.perf_rows(path, *options)
        ours = self.rows(self.report(path, "--no-inline", "-t", "|", "-g", "none", *options))
        shares = sum(cell.endswith("%") for cell in theirs[0])

        def table(rows):
            found = {}
            for row in rows:
                found.setdefault(tuple(row[shares:]), [float(x.rstrip("%")) for x in row[:shares]])
            return found
        mine, compared = table(ours), 0
        for row in theirs:
            # Places without a symbol are an entry each: perf shows addresses, we module and offset.
            if re.search(r"\] (0x)?[0-9a-f]{8,}$", row[-1]) or "[unknown]" in row:
                continue
            wanted = [float(x.rstrip("%")) for x in row[:shares]]
            if wanted[0] < 0.5:
                break
            self.assertIn(tuple(row[shares:]), mine, (options, ours[:20]))
            for column, (a, b) in enumerate(zip(mine[tuple(row[shares:])], wanted)):
                if deeper and shares == 2 and column == 0:
                    self.assertGreater(a, b - tolerance, (options, row))
                else:
                    self.assertAlmostEqual(a, b, delta=tolerance, msg=(options, row))
            compared += 1
            if compared == count:
                break
        self.assertGreater(compared, 0, theirs[:5])


class BesidePerf(ReportCase):
    SORTS = ([], ["--no-children"], ["-s", "dso"], ["-s", "sym"], ["-s", "comm"], ["-s", "dso,sym", "--no-children"])

    def test_frame_pointers(self):
        for tool in ("tacho", "perf"):
            path = self.record(shape(), "-g", "-F", "2500", tool=tool)
            for options in self.SORTS:
                with self.subTest(tool=tool, options=options):
                    self.assertAgrees(path, options, 10, 0.1)

    def test_without_stacks(self):
        for tool in ("tacho", "perf"):
            path = self.record(shape(), "-F", "2500", tool=tool)
            for options in ([], ["-s", "dso"], ["-s", "sym"]):
                with self.subTest(tool=tool, options=options):
                    self.assertAgrees(path, options, 10, 0.1)
            self.assertNotIn("Children", self.report(path))

    def test_copies_of_the_stack(self):
        for tool in ("tacho", "perf"):
            path = self.record(shape(), "--call-graph", "dwarf", "-F", "1000", tool=tool)
            for options in ([], ["--no-children"], ["-s", "dso"]):
                with self.subTest(tool=tool, options=options):
                    self.assertAgrees(path, options, 20, 0.5)

    def test_a_compiler(self):
        source = self.write("x.cc", CPP)
        compiler = [needs_program("g++"), "-O1", "-c", "-o", self.path("x.o"), source]
        for options in (["-g"], ["--call-graph", "dwarf"]):
            path = self.record(compiler, *options, "-F", "1500", tool="perf")
            for sort in ([], ["--no-children"]):
                with self.subTest(options=options, sort=sort):
                    self.assertAgrees(path, sort, 20, 0.5, deeper="dwarf" in options)

    def test_redis(self):
        server, bench = needs_program("redis-server"), needs_program("redis-benchmark")
        sock = self.path("s")
        line = ("%s --port 0 --unixsocket %s --save '' --dir %s >/dev/null & "
                "for n in 1 2 3 4 5 6 7 8 9 10; do [ -S %s ] && break; sleep 0.1; done; "
                "%s -s %s -q -n 60000 -t set,get,lpush >/dev/null; kill $!; wait" %
                (server, sock, self.home, sock, bench, sock))
        for options in (["-g"], ["--call-graph", "dwarf"]):
            path = self.record(["sh", "-c", line], *options, "-F", "1000", tool="perf")
            with self.subTest(options=options):
                self.assertAgrees(path, ["--no-children"], 20, 0.5)

    def test_chains_are_drawn_alike(self):
        path = self.record(shape(), "-g", "-F", "2500")
        for options in ([], ["--no-children"], ["-g", "callee"], ["--no-children", "-g", "caller"]):
            drawn = []
            for argv in ([TACHO, "report"], [needs_program("perf"), "report", "--stdio", "-f"]):
                text = subprocess.run([*argv, "--no-inline", "-i", path, "--percent-limit", "3", *options],
                                      env=environment(self.home), text=True, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, check=True).stdout
                # Without the C library's debug file some callers have no name: perf shows their address
                # in memory, we their place in the library.
                text = re.sub(r"(?<![\w.])(?:[\w.][\w.-]*\+)?0x[0-9a-f]{4,}", "NAMELESS", text)
                # Columns are as wide as what is shown; perf looks at what is not, too.
                drawn.append(self.blocks([re.sub(r"(?<=\S) +", " ", line) if re.match(r" +\d", line) else line.rstrip()
                              for line in text.splitlines() if line.strip() and not line.startswith("#")]))
            with self.subTest(options=options):
                self.assertEqual(*drawn)

    @staticmethod
    def blocks(lines):
        """An entry with its chains each; the order of equal shares is anybody's."""
        text = "\n".join(lines)
        return sorted(re.split(r"\n(?= +\d+\.\d\d% )", text))


class Shape(ReportCase):
    def test_known_shares(self):
        for options in (["-g"], ["--call-graph", "dwarf"]):
            path = self.record(shape(), *options, "-F", "2000")
            shares = self.shares(path)
            with self.subTest(options=options):
                self.assertAlmostEqual(shares["hot"][0], 70, delta=5)
                self.assertAlmostEqual(shares["recurse"][0], 10, delta=4)
                self.assertAlmostEqual(shares["cold"][0], 20, delta=5)
                self.assertGreater(shares["spin"][1], 90)
                self.assertLess(shares["cold"][1], 1)
                self.assertGreater(shares["main"][0], 90)
                self.assertLess(shares["main"][1], 1)
            entry = next(e for e in self.entries(path, "-s", "sym") if e["symbol"] == "main")
            names = [c["symbol"] for c in entry["chains"][0]["children"]]
            self.assertEqual(entry["chains"][0]["symbol"], "main")
            self.assertEqual(names[0], "hot")

    def test_totals(self):
        path = self.record(shape(), "-g", "-F", "2000")
        section = self.json(path, "--no-inline")["sections"][0]
        self.assertEqual(sum(e["self"] for e in section["entries"]), section["weight"])
        self.assertEqual(sum(e["self_samples"] for e in section["entries"]), section["samples"])
        said = json.loads(self.tacho("info", "--json", path).stdout)
        self.assertEqual(section["samples"], said["samples"])
        for e in section["entries"]:
            self.assertLessEqual(sum(c["weight"] for c in e["chains"]), e["total"])
            self.assertLessEqual(e["self"], e["total"])
        flat = self.json(path, "--no-children", "-g", "none")["sections"][0]
        self.assertEqual({(e["comm"], e["dso"], e["symbol"]): e["self"] for e in flat["entries"]},
                         {(e["comm"], e["dso"], e["symbol"]): e["self"] for e in section["entries"] if e["self"]})


class Options(ReportCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.recording = os.path.join(os.path.dirname(shape()[0]), "report.data")
        subprocess.run([TACHO, "record", "-q", "-e", "cpu-clock,page-faults", "-g", "-F", "1500", "-o", cls.recording,
                        "--", *shape(6000000)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def test_events_are_sections(self):
        text = self.report(self.recording)
        self.assertEqual(len(re.findall("^# Samples: .* of event 'cpu-clock", text, re.M)), 1)
        self.assertEqual(len(re.findall("^# Samples: .* of event 'page-faults", text, re.M)), 1)
        self.assertLess(text.index("'cpu-clock"), text.index("'page-faults"))
        for options in (["--sort", "event,sym"], ["--group"]):
            found = self.json(self.recording, *options)["sections"]
            self.assertEqual(len(found), 1)
            self.assertEqual({e["event"].split(":")[0] for e in found[0]["entries"]}, {"cpu-clock", "page-faults"})
        self.assertEqual(len(self.json(self.recording, "--event", "page-faults")["sections"]), 1)

    def test_filters(self):
        everything = self.entries(self.recording)
        only = self.entries(self.recording, "--comm", "other")
        self.assertEqual({e["comm"] for e in only}, {"other"})
        relative = self.entries(self.recording, "--comm", "other", "--percentage", "relative")
        # Shares are of all that was recorded, or of what the filters leave.
        for shown, whole in ((only, everything), (relative, only)):
            for e in shown:
                self.assertAlmostEqual(e["self_percent"], 100 * e["self"] / sum(w["self"] for w in whole), delta=0.01)
        self.assertEqual({e["dso"] for e in self.entries(self.recording, "--dso", "shape")}, {"shape"})
        self.assertEqual([e["symbol"] for e in self.entries(self.recording, "--symbols", "hot")], ["hot"])
        hot, = (e for e in everything if e["symbol"] == "hot" and e["comm"] == "shape")
        self.assertEqual(self.entries(self.recording, "--symbols", "hot", "--comm", "shape")[0]["total"], hot["total"])
        found = {e["symbol"] for e in self.entries(self.recording, "--symbol-filter", "recur")}
        self.assertEqual(found, {"recurse"})
        self.assertEqual(self.entries(self.recording, "--tid", "1"), [])
        pid = self.entries(self.recording, "-s", "pid")[0]["pid"]
        self.assertTrue(self.entries(self.recording, "--pid", pid))

    def samples_between(self, *time):
        return sum(s["samples"] for s in self.json(self.recording, *time)["sections"])

    def test_time(self):
        """As many as there are by their times: the program may have been held up in any part."""
        text = self.tacho("script", "-i", self.recording, "-F", "time", "--ns").stdout
        times = sorted(float(word) for word in text.replace(":", " ").split())
        whole, span = self.json(self.recording)["sections"][0]["samples"], times[-1] - times[0]
        for low, high in ((0.1, 0.3), (0, 0.5), (0.6, 1)):
            inside = sum(times[0] + low * span <= t <= times[0] + high * span for t in times)
            # One at each border may be taken for the other side's.
            self.assertAlmostEqual(self.samples_between("--time", "%g%%-%g%%" % (100 * low, 100 * high)), inside,
                                   delta=2)
        middle = times[len(times) // 2]
        self.assertAlmostEqual(self.samples_between("--time", "%.9f," % middle), len(times) / 2, delta=2)
        steps = self.entries(self.recording, "-s", "time", "--time-quantum", "10ms", "-g", "none")
        self.assertGreater(len(steps), 2)
        self.assertEqual(sum(e["self_samples"] for e in steps), whole)

    def test_other_keys(self):
        whole = self.json(self.recording)["sections"][0]["weight"]
        for key in ("cpu", "tid", "pid", "srcline", "srcfile", "dso"):
            with self.subTest(key=key):
                entries = self.entries(self.recording, "-s", key, "--no-children", "-g", "none")
                self.assertEqual(sum(e["self"] for e in entries), whole)
        lines = self.entries(self.recording, "-s", "srcline", "--no-children")
        self.assertTrue(lines[0]["file"].endswith("shape.c"), lines[0])
        self.assertEqual(lines[0]["line"], 8)  # the loop of spin()

    def test_columns(self):
        text = self.report(self.recording, "-n", "--show-total-period", "--no-children", "-g", "none", "--event",
                           "cpu-clock")
        heading = next(line for line in text.splitlines() if line.startswith("# Overhead"))
        self.assertEqual(heading.split()[1:5], ["Overhead", "Samples", "Period", "Command"])
        rows = self.rows(self.report(self.recording, "-F", "sym,overhead", "-t", "|", "--event", "cpu-clock"))
        self.assertTrue(rows[0][0].startswith("[.] "), rows[0])
        self.assertRegex(rows[0][1], r"^\d+\.\d\d%$")
        self.assertFalse([line for line in self.report(self.recording, "-q").splitlines() if line.startswith("#")])

    def heading(self, *options, tool=None):
        """The titles of the columns."""
        if tool:
            text = subprocess.run([tool, "report", "--stdio", "-f", "-i", self.recording, *options], text=True,
                                  env=environment(self.home), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  check=True).stdout
        else:
            text = self.report(self.recording, *options)
        return re.split("  +", next(x for x in text.splitlines() if "Symbol" in x).lstrip("# ").strip())

    PLUS = (["-F", "+period"], ["-F", "+period,sample"], ["-s", "sym", "-F", "+period"], ["-F", "+overhead"],
            ["-s", "+cpu", "-F", "+period"], ["-F", "+cpu,period"], ["-n", "-F", "+period"], ["-F", "+sym"],
            ["--no-children", "-F", "+period"])

    def test_plus_adds_to_the_usual_columns(self):
        self.assertEqual(self.heading("-F", "+period"),
                         ["Children", "Self", "Period", "Command", "Shared Object", "Symbol"])
        self.assertEqual(self.heading("-F", "+period", "--no-children"),
                         ["Overhead", "Period", "Command", "Shared Object", "Symbol"])
        self.assertEqual(self.heading("-F", "+period", "-s", "sym"), ["Children", "Self", "Period", "Symbol"])
        plain = self.entries(self.recording)
        self.assertEqual(self.entries(self.recording, "-F", "+period"), plain)

    def test_plus_beside_perf(self):
        perf = needs_program("perf")
        for options in self.PLUS:
            with self.subTest(options=options):
                self.assertEqual(self.heading(*options, "-g", "none"),
                                 self.heading(*options, "-g", "none", tool=perf))

    def test_exact_columns_sort_by_what_is_shown(self):
        def percents(*options):
            lines = self.report(self.recording, "-g", "none", "--event", "cpu-clock", *options).splitlines()
            return [float(line.split("%")[0]) for line in lines if line.strip() and not line.startswith("#")]

        own = percents("-F", "overhead,sym")
        self.assertEqual(own, sorted(own, reverse=True))
        self.assertAlmostEqual(sum(own), 100, delta=0.5)  # rounding; a caller's row would count its callees again
        below = percents("-F", "children,sym")
        self.assertEqual(below, sorted(below, reverse=True))
        self.assertGreater(len(below), len(own))

    def test_limits(self):
        entries = self.entries(self.recording, "--percent-limit", "30")
        self.assertTrue(entries and all(e["total_percent"] >= 30 for e in entries))
        few = self.report(self.recording, "-g", "graph,50")
        self.assertLess(len(few), len(self.report(self.recording, "-g", "graph,0.01")))
        self.assertNotIn("--cold", few)

    def test_lists_of_chains(self):
        text = self.report(self.recording, "-g", "folded,caller,0.5", "--no-children", "--event", "cpu-clock")
        self.assertRegex(text, r"(?m)^\d+\.\d\d% (.*;)?main;hot;spin$")
        flat = self.report(self.recording, "-g", "flat", "--no-children", "-G", "--event", "cpu-clock")
        self.assertRegex(flat, r"(?m)^ +\d+\.\d\d%\n(.*\n)* +main\n +hot\n +spin\n")
        self.assertNotIn("---", self.report(self.recording, "-g", "none"))

    def steps(self, *options):
        """Of the chains of spin(): every (symbol, line) on the way, callers first."""
        found = []

        def walk(nodes):
            for node in nodes:
                found.append((node["symbol"], node.get("line")))
                walk(node.get("children", []))
        entry = next(e for e in self.entries(self.recording, "--no-children", "--event", "cpu-clock", *options)
                     if e["symbol"] == "spin" and e["comm"] == "shape")
        walk(entry["chains"])
        return found

    def test_words_of_call_graph(self):
        """-g takes perf's words in the next word, behind = and glued to it."""
        for words in ("caller,address", "graph,0.5,caller,function,percent", "fractal", "none", "folded,0.5,3,callee",
                      "caller,srcline,count", "flat,0,10,caller,address,period", "srcline", "count", "0.5,caller"):
            for options in (["-g", words], ["--call-graph=" + words], ["--call-graph", words]):
                with self.subTest(options=options):
                    result = self.tacho("report", "-i", self.recording, *options)
                    self.assertEqual(result.returncode, 0, result.stderr)
                    self.assertIn("spin", result.stdout)
        for wrong in "caller,adress", "graph,nosuch", "caller,0.5,2,7", "nosuch":
            for options in (["-g", wrong], ["--call-graph=" + wrong]):
                with self.subTest(options=options):
                    result = self.tacho("report", *options, "-i", self.recording)
                    self.assertEqual(result.returncode, 2)
                    self.assertOneSentence(result.stderr)
                    self.assertIn("--call-graph: '%s' is not among" % wrong.split(",")[-1], result.stderr)
        # A file behind -g is the recording, as it is without -g.
        self.assertEqual(self.report(self.recording, "-g"), self.tacho("report", "-g", self.recording).stdout)
        self.assertIn("branch", self.tacho("report", "-i", self.recording, "-g", "caller,branch").stderr)

    def test_steps_by_line_and_address(self):
        by_function, by_line, by_address = (self.steps("-g", "graph,0,caller," + key)
                                            for key in ("function", "srcline", "address"))
        self.assertNotIn(True, [bool(line) for _, line in by_function])
        lines = {symbol: line for symbol, line in by_line}
        self.assertEqual(by_function.count(("main", None)), 1)
        self.assertTrue(lines["main"] and lines["hot"] and lines["spin"], lines)
        # main() calls hot(), cold() and recurse() in one line, but at different addresses.
        self.assertEqual(len([s for s in by_line if s[0] == "main"]), 1)
        self.assertEqual(len([s for s in by_address if s[0] == "main"]), 3)
        self.assertRegex(self.report(self.recording, "-g", "caller,srcline"), r"--hot shape\.c:\d+\n")

    def test_counts_in_chains(self):
        options = ["--no-children", "--event", "cpu-clock", "-s", "sym", "-S", "spin"]
        entry, = self.entries(self.recording, *options)
        text = self.report(self.recording, *options, "-g", "folded,0,count")
        counts = [int(n) for n in re.findall(r"(?m)^(\d+) spin", text)]
        self.assertEqual(sum(counts), entry["self_samples"])
        text = self.report(self.recording, *options, "-g", "folded,0,1,count")
        self.assertEqual([int(n) for n in re.findall(r"(?m)^(\d+) spin", text)], [max(counts)])

    def test_header(self):
        text = self.report(self.recording, "--header-only")
        self.assertIn("# cmdline :", text)
        self.assertNotIn("Samples", text)
        self.assertIn("# cmdline :", self.report(self.recording, "--header"))

    def test_pipe_and_text(self):
        with open(self.recording, "rb") as data:
            piped = self.tacho("report", "-i", "-", "--json", stdin=data)
        self.assertEqual(piped.returncode, 0, piped.stderr)
        entries = json.loads(piped.stdout)["sections"][0]["entries"]
        self.assertEqual(entries[0]["total"], self.entries(self.recording)[0]["total"])
        path = self.write("x.folded", "a;b;c 70\na;b 20\na;d;a 10\n")
        shares = self.shares(path)
        self.assertEqual(shares["a"], (100, 10))
        self.assertEqual(shares["b"], (90, 20))
        result = self.tacho("report", "-i", path, "--comm", "x")
        self.assertEqual(result.returncode, 1)
        self.assertIn("does not tell threads apart", result.stderr)

    def test_nothing_left(self):
        path = self.path("in.txt")
        with open(path, "w") as text:
            text.write("prog;main;hot 7\n")
        for option, value, sentence in (("--symbols", "nosuch", "matches --symbols"),
                                        ("--dsos", "nosuch", "matches --dsos"),
                                        ("--percent-limit", "99.5", "nothing has 99.5 %")):
            result = self.tacho("report", "-i", path, "--no-children", option, value)
            if option == "--percent-limit":
                self.assertEqual(result.stderr, "")  # hot has all of it
            else:
                self.assertIn(sentence, result.stderr)
        data = self.record(shape(200000))
        for command in (("report",), ("flame", "-o", "-"), ("annotate",), ("convert", "--to", "folded", "-o", "-")):
            result = self.tacho(*command, "-i", data, "--event", "nosuch")
            self.assertRegex(result.stderr, r"no sample in '.*' matches --event nosuch; its events: ")
            result = self.tacho(*command, "-i", data, "--time", "1,2")
            self.assertRegex(result.stderr, r"matches --time 1,2; its times: [\d.]+,[\d.]+\n")

    def test_words_of_perf(self):
        data = self.record(shape(200000))
        plain_text = self.tacho("report", "-i", data).stdout
        self.assertEqual(self.tacho("report", "-f", "-v", "--inline", "--demangle", data, "-i", data).returncode, 2)
        self.assertEqual(self.tacho("report", data, "-f", "-v", "--inline", "--demangle").stdout, plain_text)
        self.assertNotIn("--demangle\n", self.tacho("report", "--help").stdout.replace("--no-demangle", ""))
        for option in "--vmlinux", "--kallsyms", "--symfs":
            for command in "report", "script":
                result = self.tacho(command, "-i", data, option, self.path("nosuch"))
                self.assertEqual(result.returncode, 2)
                self.assertIn(f"{option}: cannot open", result.stderr)

    def test_wrong_usage(self):
        for options, word in ((["-s", "nmae"], "nmae"), (["-g", "sideways"], "sideways"), (["--call-graph=up"], "up"),
                              (["--percent-limit", "x"], "x"), (["--percentage", "some"], "some"),
                              (["--tui", "--json"], "exclude"), (["--pid", "x"], "x"),
                              (["--time-quantum", "1h"], "1h")):
            with self.subTest(options=options):
                result = self.tacho("report", "-i", self.recording, *options)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertOneSentence(result.stderr)
                self.assertIn(word, result.stderr)
        result = self.tacho("report", "-i", self.path("none.data"))
        self.assertEqual(result.returncode, 1)
        self.assertOneSentence(result.stderr)

    def test_terminal(self):
        env = environment(self.home, {"PAGER": "cat"})
        status, output = in_terminal([TACHO, "report", "-i", self.recording], env)
        self.assertEqual(status, 0)
        self.assertIn(b"\x1b[31m", output)
        self.assertIn("main", plain(output))
        status, output = in_terminal([TACHO, "report", "-i", self.recording], dict(env, NO_COLOR="1"))
        self.assertNotIn(b"\x1b[3", output)
        self.assertNotIn("\x1b", self.report(self.recording))


class Browser(ReportCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        Options.setUpClass()

    def setUp(self):
        super().setUp()
        needs_program("tmux")
        self.servers = 0

    def new_server(self):
        self.servers += 1
        self.socket = "tacho-test-%d-%s-%d" % (os.getpid(), self.id().split(".")[-1], self.servers)
        self.addCleanup(subprocess.run, ["tmux", "-L", self.socket, "kill-server"], stderr=subprocess.DEVNULL)

    def tmux(self, *args):
        return subprocess.run(["tmux", "-L", self.socket, "-f", "/dev/null", *args], env=environment(self.home),
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True).stdout

    def open(self, *options, before="", width=110, height=30):
        command = "%s %s report --tui -i %s %s; echo ended $?; stty -a | grep -ow -- '-*echo\\|-*icanon'; exec cat" % (
            before, shlex.quote(TACHO), shlex.quote(Options.recording), " ".join(options))
        self.new_server()
        self.tmux("new-session", "-d", "-x", str(width), "-y", str(height), command)
        self.sees("Samples:")

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def sees(self, text):
        if not eventually(lambda: text in self.screen()):
            self.fail("'%s' is not seen:\n%s" % (text, self.screen()))

    def sees_not(self, text):
        if not eventually(lambda: text not in self.screen()):
            self.fail("'%s' is seen:\n%s" % (text, self.screen()))

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def entries_on_screen(self):
        return re.findall(r"^([-+ ]) +\d+\.\d\d%", self.screen(), re.M)

    def test_chains(self):
        self.open()
        self.assertIn("Children", self.screen())
        self.sees("[.] main")
        self.assertNotIn("-", self.entries_on_screen())
        self.keys("Home", "Enter")
        self.assertTrue(eventually(lambda: "-" in self.entries_on_screen()), self.screen())
        opened = self.screen()
        self.assertGreater(len(re.findall(r"\d% [a-z_]+$", opened, re.M)), 0, opened)
        self.keys("-")
        self.assertTrue(eventually(lambda: "-" not in self.entries_on_screen()), self.screen())
        self.keys("E")
        self.assertTrue(eventually(lambda: "-" in self.entries_on_screen()), self.screen())
        self.keys("C", "q")
        self.sees("ended 0")

    def test_zoom_and_find(self):
        self.open("--event", "cpu-clock")
        self.keys("/")
        self.sees("functions with:")
        self.keys("recur", "Enter")
        self.sees("names with 'recur'")
        self.sees_not("[.] main")
        self.keys("d")
        self.sees("library: shape")
        self.keys("Escape")
        self.sees_not("names with")
        self.sees("[.] main")
        self.keys("Escape")
        self.sees_not("library:")
        self.keys("/", "cold", "Enter")
        self.sees("names with 'cold'")
        self.keys("End", "t")
        self.sees("thread: ")
        self.keys("Escape", "Escape", "s")
        self.sees("sort by")
        self.keys("dso", "Enter")
        self.sees("Shared Object")
        self.sees_not("Symbol")
        self.keys("s")
        self.sees("sort by")
        self.keys("nonsense", "Enter")
        self.sees("'nonsense' is not among")
        self.keys("h")
        self.sees("this help")
        self.keys("x", "q")
        self.sees("ended 0")

    def test_order_and_events(self):
        self.open()
        self.keys("S")
        self.sees("Overhead")
        self.keys("c")
        self.sees("chains go from")
        self.keys("F")
        self.sees("100 % is what is shown")
        self.keys("Tab")
        self.sees("of event 'page-faults")
        self.tmux("resize-window", "-x", "60", "-y", "12")
        self.sees("of event 'page-faults")
        self.keys("PageDown", "Up", "Down", "PageUp", "C-c")
        self.sees("ended 0")

    def test_the_terminal_is_given_back(self):
        for number in (signal.SIGTERM, signal.SIGSEGV):
            with self.subTest(signal=number):
                self.open(before="sh -c 'echo $$ > %s; exec \"$@\"' x" % self.path("pid"))
                with open(self.path("pid")) as text:
                    os.kill(int(text.read()), number)
                self.sees("ended %d" % (128 + number))
                self.assertTrue(eventually(lambda: re.search(r"(?m)^icanon$(.*\n)*^echo$", self.screen())),
                                self.screen())

    def test_without_a_terminal(self):
        result = self.tacho("report", "--tui", "-i", Options.recording, before=["setsid"])
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, "^tacho: report: .*terminal")


if __name__ == "__main__":
    unittest.main()

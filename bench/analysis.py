"""From recordings to answers: flame graphs, folded stacks, text, reports and annotation beside perf's.

Every row is measured in one run of the bench: the least disturbed of three, with CPU time and peak memory of the
same run. What takes perf minutes is run once. perf is always given --no-inline where it has the choice, except in
the rows about inlined functions: inlining is what tacho does by default, so the comparison is against it.

FLAMEGRAPH names a checkout of the FlameGraph scripts; one beside the sources of tacho is found, too.
"""
import functools
import glob
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

import mix
from measure import PERF, TACHO, heading, show, verdict
from recording import describe, enlarged, folder, info, mixed

HERE = os.path.dirname(os.path.abspath(__file__))
GNU_TIME = shutil.which("time")
PATIENCE_S = 120   # after which perf is ended
LONG_S = 10        # what takes longer is not repeated


class Measured:
    """One run of a command or pipeline, everything that it started included."""

    def __init__(self, argv, limit_s=None):
        with tempfile.NamedTemporaryFile("r") as out:
            wrap = [GNU_TIME, "-f", "%U %S %M", "-o", out.name] if GNU_TIME else []
            start = time.perf_counter()
            child = subprocess.Popen(wrap + argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL, start_new_session=True)
            self.killed = False
            try:
                self.status = child.wait(limit_s)
            except subprocess.TimeoutExpired:
                self.killed = True
                os.killpg(child.pid, signal.SIGKILL)
                self.status = child.wait()
            self.wall = time.perf_counter() - start
            words = out.read().split()[-3:]
        self.cpu, self.peak_mb = float("nan"), float("nan")
        if len(words) == 3 and not self.killed:
            self.cpu = float(words[0]) + float(words[1])
            self.peak_mb = float(words[2]) / 1024

    def __str__(self):
        if self.killed:
            return f"> {self.wall:.0f} s, ended"
        return f"{self.wall:.3f} s, CPU {self.cpu:.3f} s, peak {self.peak_mb:.1f} MB"


def measured(argv, rounds=3, limit_s=None):
    """The best of the rounds; what takes long or was ended is not repeated."""
    runs = []
    for _ in range(rounds):
        runs.append(Measured(argv, limit_s))
        if runs[-1].killed or runs[-1].wall > LONG_S:
            break
    return min(runs, key=lambda r: r.wall)


def works(tool, run):
    """A command that fails is fast, too."""
    if run.killed or run.status == 0:
        return True
    print(f"  {tool} failed with status {run.status}")
    return False


def faster(name, ours, theirs, target):
    ratio = theirs.wall / ours.wall
    verdict(name, works("tacho", ours) and ratio >= target,
            f"{'more than ' if theirs.killed else ''}{ratio:.1f} times as fast (target: {target})")


def beside_perf(name, ours_argv, theirs_argv, target, label="perf", limit_s=None):
    """Measures both, says both, judges the ratio."""
    ours = measured(ours_argv)
    show("tacho", str(ours))
    if not PERF:
        works("tacho", ours)
        return ours, None
    theirs = measured(theirs_argv, limit_s=limit_s)
    show(label, str(theirs))
    if works(label, theirs):
        faster(name, ours, theirs, target)
    return ours, theirs


def result(name):
    return os.path.join(folder(), name)


# ---- frame pointers, a mix of real programs ----

def flamegraph_scripts():
    beside = os.path.join(os.path.dirname(os.path.dirname(HERE)), "FlameGraph")
    for place in (os.environ.get("FLAMEGRAPH"), beside):
        if place and os.path.exists(os.path.join(place, "flamegraph.pl")):
            return place
    return None


def bench_flame():
    """A recording as a flame graph."""
    heading("flame: the recording of real programs as a flame graph")
    path = mixed()
    describe(path)
    ours = [TACHO, "flame", "-q", "-i", path, "-o", result("flame.svg")]
    scripts = flamegraph_scripts()
    if scripts and shutil.which("perl"):
        pipe = f"{PERF} script --no-inline -i {path} | {scripts}/stackcollapse-perf.pl | {scripts}/flamegraph.pl"
        beside_perf("flame", ours, ["sh", "-c", pipe + " > " + result("perl.svg")], 100, "scripts")
        return
    print("  the FlameGraph scripts are not here (FLAMEGRAPH=DIR names them): perf script alone is compared,"
          " a sixth of their time")
    beside_perf("flame", ours, [PERF or "perf", "script", "--no-inline", "-i", path], 100 / 6)


def bench_folded():
    """The same as folded stacks."""
    heading("folded: the same as folded stacks")
    path = mixed()
    ours, theirs = beside_perf("folded", [TACHO, "convert", "-q", "-i", path, "--to", "folded", "-o",
                                          result("folded")],
                               [PERF or "perf", "script", "--no-inline", "-i", path], 20)
    if theirs:
        verdict("folded", ours.peak_mb <= theirs.peak_mb,
                f"peak {ours.peak_mb:.0f} MB, perf script {theirs.peak_mb:.0f} MB")


def bench_script_names():
    """The same as text with names."""
    heading("script_names: the same as text with names")
    path = mixed()
    beside_perf("script_names", [TACHO, "script", "--no-inline", "-i", path],
                [PERF or "perf", "script", "--no-inline", "-i", path], 4)


def bench_report():
    """The default report."""
    heading("report: the same, with children and call chains")
    path = mixed()
    ours, theirs = beside_perf("report", [TACHO, "report", "--stdio", "-i", path],
                               [PERF or "perf", "report", "--stdio", "--no-inline", "-i", path], 50)
    if theirs:
        verdict("report", ours.peak_mb <= 0.1 * theirs.peak_mb,
                f"{ours.peak_mb / theirs.peak_mb:.2f} of perf's memory (target: 0.1)")


def bench_flat():
    """Without callers."""
    heading("flat: report -g none --no-children")
    path = mixed()
    options = ["--stdio", "-g", "none", "--no-children", "-i", path]
    beside_perf("flat", [TACHO, "report", *options], [PERF or "perf", "report", *options], 10)


# ---- copies of the stack ----

DEBUG_CPP = r"""
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>
struct Node { virtual ~Node() = default; virtual double eval(double x) const = 0; };
struct Leaf : Node { double v; explicit Leaf(double v) : v(v) {} double eval(double x) const override { return v + x; } };
struct Sum : Node {
	std::vector<std::unique_ptr<Node>> parts;
	double eval(double x) const override { double s = 0; for (auto &p : parts) s += p->eval(x * 0.5); return s; }
};
static std::unique_ptr<Node> make(int depth) {
	if (!depth) return std::make_unique<Leaf>(depth);
	auto s = std::make_unique<Sum>();
	for (int i = 0; i < 3; i++) s->parts.push_back(make(depth - 1));
	return s;
}
int main(int argc, char **argv) {
	long rounds = argc > 1 ? atol(argv[1]) : 100;
	auto tree = make(8);
	double sum = 0;
	std::regex words("([a-z]+)([0-9]+)");
	for (long n = 0; n < rounds; n++) {
		std::map<std::string, int> m;
		std::unordered_map<int, std::string> u;
		for (int i = 0; i < 3000; i++) {
			std::string key = "k" + std::to_string(i * 7919 % 5003);
			m[key] += i;
			u[i % 977] += key;
		}
		std::vector<std::pair<int, std::string>> v;
		for (auto &p : m) v.emplace_back(p.second, p.first);
		std::sort(v.begin(), v.end(), [](auto &a, auto &b) { return a.first < b.first; });
		for (int i = 0; i < 200; i++) { std::smatch hit; sum += std::regex_match(v[i].second, hit, words); }
		sum += tree->eval(n) + u.size();
	}
	std::printf("%f\n", sum);
}
"""


def record_dwarf(name, argv, wanted):
    """A recording with copies of the stack of at least so many samples."""
    path = result(name + ".data")
    for frequency in (4000, 12000, 30000):
        subprocess.run([TACHO, "record", "-q", "-F", str(frequency), "--call-graph", "dwarf", "-o", path, "--",
                        *argv], check=True, stdout=subprocess.DEVNULL)
        if info(path)["samples"] >= wanted:
            break
    return path


@functools.lru_cache(None)
def compiler():
    """A C++ compiler at work: no debug information, deep stacks."""
    source = result("compile.cc")
    with open(source, "w", encoding="ascii") as f:
        f.write(mix.CPP)
    line = f"for n in 1 2 3; do g++ -O2 -c -o {result('compile.o')} {source}; done"
    return record_dwarf("compile", ["sh", "-c", line], 12000)


@functools.lru_cache(None)
def debugged():
    """A C++ program with debug information, at -O2."""
    program = result("debugged")
    with open(program + ".cc", "w", encoding="ascii") as f:
        f.write(DEBUG_CPP)
    subprocess.run(["g++", "-g", "-O2", "-std=c++17", "-o", program, program + ".cc"], check=True)
    return record_dwarf("debugged", [program, "1500"], 8000)


def bench_dwarf():
    """Unwinding by copies of the stack."""
    heading("dwarf: a C++ compiler, copies of the stack, folded without inlined functions")
    path = compiler()
    said = describe(path)
    verdict("dwarf", said["samples"] >= 12000, f"{said['samples']:,} samples (wanted: 12,000)")
    ours, _ = beside_perf("dwarf", [TACHO, "convert", "-q", "--no-inline", "-i", path, "--to", "folded", "-o",
                                    result("folded")],
                          [PERF or "perf", "script", "--no-inline", "-i", path], 8)
    parsers = glob.glob("/usr/lib/*/libexec/hotspot-perfparser")
    if not parsers:
        print("  hotspot's parser is not installed")
        return
    theirs = measured([parsers[0], "--input", path])
    show("hotspot", f"{theirs} ({theirs.wall / ours.wall:.1f} times ours)")


def bench_dwarf_inlines():
    """The same with inlined functions."""
    heading("dwarf_inlines: the same with inlined functions")
    path = compiler()
    beside_perf("dwarf_inlines", [TACHO, "convert", "-q", "-i", path, "--to", "folded", "-o", result("folded")],
                [PERF or "perf", "script", "-i", path], 100, limit_s=PATIENCE_S)


def bench_dwarf_debug():
    """A program with debug information."""
    heading("dwarf_debug: a C++ program with debug information, with inlined functions")
    path = debugged()
    describe(path)
    beside_perf("dwarf_debug", [TACHO, "convert", "-q", "-i", path, "--to", "folded", "-o", result("folded")],
                [PERF or "perf", "script", "-i", path], 5, limit_s=PATIENCE_S)


# ---- one function, and many samples ----

def hottest_function(path):
    """The hottest function of a program whose code can be read."""
    out = subprocess.run([TACHO, "report", "--json", "-g", "none", "--no-children", "-s", "dso,sym", "-i", path],
                         capture_output=True, text=True, check=False).stdout
    for entry in json.loads(out)["sections"][0]["entries"]:
        if entry["kind"] == "user" and entry["symbol"] and "+0x" not in entry["symbol"]:
            return entry["symbol"]
    return None


def bench_annotate():
    """One function's code."""
    heading("annotate: the hottest function of the real programs")
    path = mixed()
    symbol = hottest_function(path)
    print(f"  function {symbol}")
    beside_perf("annotate", [TACHO, "annotate", "-i", path, symbol],
                [PERF or "perf", "annotate", "--stdio", "-i", path, "-s", symbol], 5, limit_s=PATIENCE_S)


def bench_report_growth():
    """Ten times the samples of the same stacks."""
    heading("report_growth: the default report, and of ten times as many samples")
    path = mixed()
    size = os.path.getsize(path)
    if shutil.disk_usage(folder()).free < 12 * size:
        print(f"  SKIP: {12 * size / 1e9:.1f} GB of disk space are needed")
        return
    small, large = enlarged(path, 1), enlarged(path, 10)
    runs = [measured([TACHO, "report", "--stdio", "-i", name]) for name in (small, large)]
    for name, run in zip((small, large), runs):
        show("tacho", f"{info(name)['samples']:>12,} samples: {run}")
    os.unlink(large)
    verdict("report_growth", runs[1].wall <= 12 * runs[0].wall,
            f"{runs[1].wall / runs[0].wall:.1f} times the time for 10 times the samples (target: 10, and a fifth "
            "for noise)")
    verdict("report_growth", runs[1].peak_mb <= 2 * runs[0].peak_mb,
            f"peak memory {runs[1].peak_mb:.0f} MB, was {runs[0].peak_mb:.0f} MB (target: by stacks, not samples)")

"""tacho annotate: the hottest instruction as perf sees it, lines and source, what is missing, the page in
a browser."""

import json
import os
import re
import shutil
import subprocess
import unittest

from browser import Browser
from jit import jit_program
from helpers import (Case, TACHO, compiled, environment, in_terminal, load, needs_namespace, needs_program,
                     plain, shared_dir)

SIDE_BY_SIDE = True

LOOP_C = r"""
#include <stdlib.h>
#include <stdio.h>

__attribute__((noinline)) unsigned long divide(unsigned long n, unsigned long by)
{
	unsigned long sum = 0;

	for (unsigned long i = 1; i < n; i++) {
		sum ^= i;
		sum += (i << 20) / (by + (sum & 7));
	}
	return sum;
}

__attribute__((noinline)) unsigned long rest(unsigned long n)
{
	unsigned long sum = 0;

	while (n--)
		sum = sum * 31 + n;
	return sum;
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 1000;

	printf("%lu\n", divide(n, argc) + rest(n));
	return 0;
}
"""

# Three lines that are hot on every CPU: each is a loop of its own, which takes about as long as the others.
LINES_C = r"""
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) unsigned long lines(unsigned long n)
{
	unsigned long a = n, b = n, c = n;

	for (unsigned long i = 0; i < n; i++)
		a = a * 31 + (a >> 3) + i;
	for (unsigned long i = 0; i < n; i++)
		b = b * 33 + (b >> 4) + i;
	for (unsigned long i = 0; i < n; i++)
		c = c * 37 + (c >> 5) + i;
	return a ^ b ^ c;
}

__attribute__((noinline)) unsigned long rest(unsigned long n)
{
	unsigned long sum = 0;

	while (n--)
		sum = sum * 31 + n;
	return sum;
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 1000;

	printf("%lu\n", lines(n) + rest(n));
	return 0;
}
"""

TEMPLATE_CC = r"""
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace shape {
template <class T> struct Grid {
	std::vector<T> cells;
	int width;
	explicit Grid(int n) : cells(n * n, T(1)), width(n) {}
	T &at(int x, int y) { return cells[y * width + x]; }
};

template <class T> __attribute__((noinline)) T sum_columns(Grid<T> &g)
{
	T sum = 0;

	for (int x = 0; x < g.width; x++)
		for (int y = 0; y < g.width; y++)
			sum += g.at(x, y) / (sum + 1);
	return sum;
}
}

int main(int argc, char **argv)
{
	shape::Grid<double> grid(400);
	double sum = 0;

	for (int i = 0; i < atoi(argv[1]); i++)
		sum += shape::sum_columns(grid);
	printf("%f\n", sum);
}
"""

LIBRARY_C = r"""
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static __attribute__((noinline)) void fill(int *numbers)
{
	for (int i = 0; i < 100000; i++) {
		numbers[i] = rand();
		for (int k = 1; k < 5; k++)
			numbers[i] ^= (numbers[i] + i) % (k + 1000);
	}
}

int main(int argc, char **argv)
{
	static int numbers[100000];

	for (int round = 0; round < atoi(argv[1]); round++) {
		fill(numbers);
		qsort(numbers, 100000, sizeof(numbers[0]), compare);
	}
	printf("%d\n", numbers[7]);
}
"""


def compiled_cc(name, source, *flags):
    path = os.path.join(shared_dir(), name)
    if not os.path.exists(path):
        compiler = shutil.which("g++") or shutil.which("clang++")
        if not compiler:
            raise unittest.SkipTest("needs a C++ compiler")
        with open(path + ".cc", "w") as out:
            out.write(source)
        subprocess.run([compiler, "-O2", "-g", "-w", "-o", path, path + ".cc", *flags], check=True)
    return path


def record(name, argv):
    """A recording, made once."""
    path = os.path.join(shared_dir(), name + ".data")
    if not os.path.exists(path):
        made = subprocess.run([TACHO, "record", "-q", "-F", "2000", "-e", "cpu-clock:u", "-o", path,
                               "--", *argv], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, env=environment(shared_dir()))
        if made.returncode:
            raise AssertionError("tacho record: " + made.stderr)
    return path


def loop():
    return record("loop", [compiled("annotate-loop", LOOP_C, "-g", "-O1"), "60000000"])


def three_lines():
    return record("lines", [compiled("annotate-lines", LINES_C, "-g", "-O1"), "60000000"])


def template():
    return record("template", [compiled_cc("annotate-template", TEMPLATE_CC), "300"])


def library():
    return record("library", [compiled("annotate-library", LIBRARY_C, "-g"), "60"])


def perf_shares(path, symbol):
    """Share by address, as perf annotate prints it."""
    perf = needs_program("perf")
    needs_program("objdump")
    shown = subprocess.run([perf, "annotate", "-i", path, "--stdio", "-f", "-s", symbol],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                           stdin=subprocess.DEVNULL, env=dict(os.environ, PERF_CONFIG="/dev/null"))
    rows = re.findall(r"^\s*(\d+\.\d+)\s+:\s+([0-9a-f]+):", shown.stdout, re.M)
    return {int(address, 16): float(share) for share, address in rows}


class Annotate(Case):
    def annotated(self, *args, status=0, **more):
        result = self.tacho("annotate", *args, **more)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result.stdout

    def json_of(self, *args):
        return json.loads(self.annotated("--json", *args))

    def function(self, *args):
        functions = self.json_of(*args)["functions"]
        self.assertEqual(len(functions), 1)
        return functions[0]


class LikePerf(Annotate):
    """The hottest instruction, and every share."""

    def agrees(self, path, symbol, perf_symbol=None):
        ours = {int(i["address"], 16): i["share_pct"]
                for i in self.function("-i", path, symbol)["instructions"]}
        theirs = perf_shares(path, perf_symbol or symbol)
        self.assertGreater(len(theirs), 5, "perf annotate shows nothing of " + symbol)
        hottest = max(theirs, key=theirs.get)
        self.assertAlmostEqual(max(ours.values()), theirs[hottest], delta=0.01)
        self.assertAlmostEqual(ours[hottest], theirs[hottest], delta=0.01)
        self.assertEqual(set(ours) - set(theirs), set(), "instructions that perf does not have")
        for address, share in theirs.items():
            self.assertAlmostEqual(ours.get(address, 0), share, delta=0.011, msg=hex(address))

    def test_loop(self):
        self.agrees(loop(), "divide")

    def test_template(self):
        self.agrees(template(), "shape::sum_columns<double>")

    def test_library(self):
        hot = self.json_of("-i", library(), "--dso", "libc.so.6", "--limit", "1")["functions"][0]
        self.assertIn("/libc", hot["module"])
        self.agrees(library(), hot["function"])


class Shares(Annotate):
    def test_lines_and_instructions(self):
        f = self.function("-i", loop(), "divide")
        self.assertAlmostEqual(sum(i["share_pct"] for i in f["instructions"]), 100, delta=0.01)
        self.assertEqual(sum(i["samples"] for i in f["instructions"]), f["samples"])
        self.assertGreater(f["share_of_all_pct"], 50)
        by_line = {line["line"]: line for line in f["lines"]}
        hottest = max(f["lines"], key=lambda line: line["weight"])
        self.assertIn("(i << 20) / (by", hottest["text"])
        for number, line in by_line.items():
            own = sum(i["samples"] for i in f["instructions"] if i.get("line") == number)
            self.assertEqual(own, line["samples"], number)

    def test_percent_types(self):
        path = loop()
        whole = self.json_of("-i", path, "rest")
        local = self.function("-i", path, "rest")
        share = 100 * local["weight"] / whole["weight"]
        self.assertAlmostEqual(local["share_of_all_pct"], share, delta=1e-6)
        total = {}
        for kind in ("local-period", "local-hits", "global-period", "global-hits"):
            f = self.function("-i", path, "rest", "--percent-type", kind)
            total[kind] = sum(i["share_pct"] for i in f["instructions"])
        self.assertAlmostEqual(total["local-period"], 100, delta=0.01)
        self.assertAlmostEqual(total["local-hits"], 100, delta=0.01)
        self.assertAlmostEqual(total["global-period"], share, delta=0.01)
        self.assertAlmostEqual(total["global-hits"], 100 * local["samples"] / whole["samples"],
                               delta=0.01)

    def test_inlined(self):
        f = self.function("-i", template(), "sum_columns")
        self.assertEqual(f["function"], "shape::sum_columns<double>")
        inlined = {i["inlined"] for i in f["instructions"] if "inlined" in i}
        self.assertTrue(any("operator[]" in name for name in inlined), inlined)
        self.assertTrue(any(line["file"].endswith("stl_vector.h") for line in f["lines"]))

    def test_calls_have_names(self):
        f = self.function("-i", library(), "fill")
        names = {i.get("names") for i in f["instructions"] if i.get("flow") == "call"}
        self.assertEqual(names, {"rand@plt"})

    def test_jumps_lead_somewhere(self):
        f = self.function("-i", loop(), "divide")
        addresses = {i["address"] for i in f["instructions"]}
        jumps = [i for i in f["instructions"] if i.get("flow") == "jump"]
        self.assertTrue(jumps)
        for jump in jumps:
            self.assertIn(jump["target"], addresses)
        self.assertEqual([i.get("flow") for i in f["instructions"]].count("return"), 1)

    def test_names(self):
        path = template()
        for name in ("shape::sum_columns<double>", "sum_columns", "shape::sum_col*", "*_columns*"):
            self.assertEqual(self.function("-i", path, name)["function"], "shape::sum_columns<double>")
        self.assertEqual(self.function("-i", path, "-s", "sum_columns", "--dso", "annotate-template")
                         ["module"], compiled_cc("annotate-template", TEMPLATE_CC))
        self.annotated("-i", path, "sum_columns", "--dso", "libc.so.6", status=1)

    def test_hottest_first(self):
        text = self.annotated("-i", loop())
        self.assertRegex(text, r"\AHottest functions by cpu-clock:u \([\d,]+ samples\); 2 follow")
        self.assertLess(text.index("divide in /"), text.index("rest in /"))
        self.assertNotIn("rest in /", self.annotated("-i", loop(), "--limit", "1"))
        self.assertNotIn("rest in /", self.annotated("-i", loop(), "--percent-limit", "50"))

    def test_one_sample(self):
        first = self.tacho("script", "-F", "time", "-i", loop()).stdout.split()[0].rstrip(":")
        # Times are printed in microseconds.
        text = self.annotated("-i", loop(), "--time", f"{first},{float(first) + 0.000001:.6f}")
        self.assertIn("(1 sample); 1 follows below", text)

    def test_pipe(self):
        with open(loop(), "rb") as data:
            text = self.annotated("-i", "-", "divide", stdin=data)
        self.assertEqual(text, self.annotated("-i", loop(), "divide"))


class Text(Annotate):
    def test_layout(self):
        text = self.annotated("-i", loop(), "divide")
        self.assertNotIn("\x1b", text)
        self.assertRegex(text, r"(?m)^ +\d+\.\d\d ▶│ annotate-loop\.c:\d+  sum \+= ")
        self.assertRegex(text, r"(?m)^ +\d+\.\d\d ▶│ [0-9a-f]+: .*[a-z]")
        self.assertRegex(text, r"(?m)^ +│ +\d+  for \(unsigned long i = 1")
        self.assertEqual(len(re.findall("(?m)^.{9}▶│|^.{8}▶│", text)), 3)

    def test_ascii(self):
        text = self.annotated("-i", loop(), "divide", env={"LC_ALL": "C"})
        text.encode("ascii")
        self.assertRegex(text, r"(?m)^ +\d+\.\d\d >\| [0-9a-f]+: ")

    def test_terminal(self):
        for columns in (60, 160):
            status, output = in_terminal([TACHO, "annotate", "-i", loop(), "divide"],
                                         environment(self.home, {"PAGER": "cat"}), columns=columns)
            self.assertEqual(status, 0)
            self.assertIn(b"\x1b[31m", output)
            longest = max(len(line) for line in plain(output).splitlines())
            self.assertLessEqual(longest, columns)

    def test_syntax(self):
        self.assertRegex(self.annotated("-i", loop(), "divide"), r"%r[a-z0-9]+, %r")
        intel = self.annotated("-i", loop(), "divide", "-M", "intel")
        self.assertNotIn("%r", intel)
        self.assertRegex(intel, r"xor +r[a-z0-9]+, r")

    def test_without_source(self):
        text = self.annotated("-i", loop(), "divide", "--no-source")
        self.assertNotIn("unsigned long", text)
        self.assertNotIn("Hottest lines", text)
        self.assertNotRegex(self.annotated("-i", loop(), "divide", "--no-jumps"), "[╭╰]")

    def test_paths(self):
        self.assertRegex(self.annotated("-i", loop(), "divide", "-l"), r"(?m)│ +annotate-loop\.c:\d+  ")
        self.assertRegex(self.annotated("-i", loop(), "divide", "-P"), r"(?m)│ +/.*/annotate-loop\.c:\d+  ")

    def test_event_with_most_samples(self):
        data = self.path("two.data")
        self.tacho("record", "-q", "-e", "page-faults", "-e", "cpu-clock/freq=4000/", "-c", "1000", "-o", data, "--",
                   *load("busy", 300))
        self.assertIn(" by cpu-clock", self.annotated("-i", data).splitlines()[0])

    def test_output_file(self):
        self.assertEqual(self.annotated("-i", loop(), "divide", "-o", self.path("x.txt")), "")
        with open(self.path("x.txt")) as text:
            self.assertIn("divide in /", text.read())

    def test_output_is_not_replaced(self):
        """A device or a link stays what it is."""
        os.symlink(self.path("real.txt"), self.path("link.txt"))
        self.annotated("-i", loop(), "divide", "-o", self.path("link.txt"))
        self.assertTrue(os.path.islink(self.path("link.txt")))
        with open(self.path("real.txt")) as text:
            self.assertIn("divide in /", text.read())


def code_of(text):
    """The instructions of an annotated function."""
    return re.findall(r"(?m)│ +([0-9a-f]+: .*)$", text)


class Missing(Annotate):
    def moved(self, *options):
        """A program that was recorded, in a folder of its own, with its source."""
        os.makedirs(self.path("old"))
        source = self.write("old/moved.c", LOOP_C)
        program = self.path("old/moved")
        compiler = shutil.which("cc") or self.skipTest("needs a C compiler")
        subprocess.run([compiler, "-g", "-O1", "-Wl,--build-id", "-o", program, source], check=True)
        data = self.path("moved.data")
        made = self.tacho("record", "-q", "-F", "1000", "-e", "cpu-clock:u", "-o", data, *options, "--",
                          program, "10000000")
        self.assertEqual(made.returncode, 0, made.stderr)
        return program, source, data

    def rebuild(self, program, source):
        subprocess.run([shutil.which("cc"), "-g", "-O2", "-Wl,--build-id", "-o", program, source],
                       check=True)

    def test_source_elsewhere(self):
        _, source, data = self.moved()
        os.makedirs(self.path("new"))
        os.rename(source, self.path("new/moved.c"))
        text = self.annotated("-i", data, "divide")
        self.assertIn("Cannot read the source '%s': No such file or directory; --source-map" % source,
                      text)
        self.assertRegex(text, r"(?m)^ +\d+\.\d\d ▶│ [0-9a-f]+: ")
        text = self.annotated("-i", data, "divide", "--source-map",
                              "%s=%s" % (self.path("old"), self.path("new")))
        self.assertNotIn("Cannot read", text)
        self.assertIn("(i << 20) / (by", text)

    def test_source_newer(self):
        program, source, data = self.moved()
        later = os.stat(program).st_mtime + 10
        os.utime(source, (later, later))
        self.assertIn("is newer than the program", self.annotated("-i", data, "divide"))

    def test_rebuilt(self):
        """The program that was recorded was kept."""
        program, source, data = self.moved()
        before = self.annotated("-i", data, "divide")
        self.assertGreater(len(code_of(before)), 3, before)
        self.rebuild(program, source)
        self.assertEqual(code_of(self.annotated("-i", data, "divide")), code_of(before))

    def test_rebuilt_and_not_kept(self):
        program, source, data = self.moved("-N")
        self.rebuild(program, source)
        result = self.tacho("annotate", "-i", data, "divide")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout, "")
        self.assertIn("rebuilt", result.stderr)

    def test_no_debug_information(self):
        program, _, data = self.moved("-N")  # or the copy that was kept would have it
        subprocess.run([needs_program("strip"), "-g", program], check=True)
        text = self.annotated("-i", data, "divide")
        self.assertIn("no debug information for lines", text)
        self.assertRegex(text, r"(?m)^ +\d+\.\d\d ▶│ [0-9a-f]+: ")

    def test_no_such_function(self):
        result = self.tacho("annotate", "-i", loop(), "divid")
        self.assertEqual(result.returncode, 1)
        # Without debug symbols of the C library a sample may be in code without a name, which is said, too.
        said = [line for line in result.stderr.splitlines() if not line.endswith("in code without a name")]
        self.assertOneSentence("\n".join(said))
        self.assertIn("did you mean 'divide'", result.stderr)

    def test_no_disassembler(self):
        needs_namespace()
        library = subprocess.run("ldconfig -p | sed -n 's/.*libcapstone.so.4 .*=> //p' | head -n 1",
                                 shell=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        if not library:
            self.skipTest("libcapstone is not installed")
        hide = 'mount --bind /dev/null "$0" && exec "$@"'
        result = self.tacho("annotate", "-i", loop(), "divide",
                            before=["unshare", "-m", "sh", "-c", hide, os.path.realpath(library)])
        self.assertEqual(result.returncode, 1)
        self.assertIn("Cannot disassemble: libcapstone.so.4 was not found", result.stdout)

    def test_usage(self):
        for args in (["-M", "gas"], ["--percent-type", "x"], ["--percent-limit", "-1"],
                     ["--html", "--json"], ["a", "b"], ["--source-map", "x"]):
            result = self.tacho("annotate", *args)
            self.assertEqual(result.returncode, 2, args)
            self.assertOneSentence(result.stderr)

    def test_text_input(self):
        folded = self.write("x.folded", "main;divide 3\n")
        result = self.tacho("annotate", "-i", folded, "divide")
        self.assertEqual(result.returncode, 1)
        self.assertIn("annotate needs a recording", result.stderr)


class MadeAtRunTime(Annotate):
    def recorded(self, *args):
        result = self.tacho("record", "-q", "-o", self.path("x.data"), jit_program(), *args)
        self.assertEqual(result.returncode, 0, result.stderr)
        return int(result.stdout)

    def test_jitdump(self):
        """The same address twice: each piece of code has its own samples."""
        self.recorded("dump", self.home, "first_code", 100, "second_code", 300)
        for name in ("first_code", "second_code"):
            f = self.function("-i", self.path("x.data"), name)
            self.assertEqual([i["text"].split()[0] for i in f["instructions"]],
                             ["pushq", "movq", "movl", "decl", "jne", "popq", "retq"])
            loop_share = sum(i["share_pct"] for i in f["instructions"][3:5])
            self.assertGreater(loop_share, 90)
        shares = {f["function"]: f["share_of_all_pct"]
                  for f in self.json_of("-i", self.path("x.data"))["functions"]}
        self.assertGreater(shares["second_code"], 2 * shares["first_code"])

    def test_perf_map(self):
        pid = self.recorded("map", ".", "made", 100)
        self.addCleanup(os.unlink, "/tmp/perf-%d.map" % pid)
        text = self.annotated("-i", self.path("x.data"), "made", status=1)
        self.assertIn("a perf map has names only", text)


class Page(Annotate):
    STATE = """
        const s = document.querySelector("section:not([hidden])"), cur = s.querySelector(".cur");
        const shown = e => e && e.offsetParent !== null;
        return {
            current: cur && cur.querySelector(".t").textContent, hot: !!cur && /h[23]/.test(cur.className),
            code: !!cur && !!cur.closest(".asm"), selected: s.querySelectorAll(".asm .sel").length,
            title: s.querySelector(".facts b").textContent,
            source: shown(s.querySelector(".source")), asm: shown(s.querySelector(".asm")),
            overflow: document.documentElement.scrollWidth - innerWidth,
            background: getComputedStyle(document.body).backgroundColor,
            resources: performance.getEntriesByType("resource").length,
        };"""

    def page(self, *args):
        path = self.path("page.html")
        self.assertEqual(self.annotated("--html", "-o", path, *args), "")
        return path

    def test_self_contained(self):
        with open(self.page("-i", loop())) as page:
            text = page.read()
        self.assertNotRegex(text, r'(?i)(src|href)="(?!#)|url\(|@import|https?://')
        self.assertIn("default-src 'none'", text)

    def test_keys(self):
        with Browser() as b:
            # How many lines of one loop are hot depends on the CPU.
            b.open(self.page("-i", three_lines()))
            state = b.run(self.STATE)
            self.assertEqual(state["title"], "lines")
            self.assertRegex(state["current"], r"[abc] = [abc] \* 3[137] |for \(")
            self.assertTrue(state["source"] and state["asm"] and state["selected"])
            self.assertEqual((state["overflow"], state["resources"]), (0, 0))
            seen = [state["current"]]
            for _ in range(3):
                b.keys("n")
                state = b.run(self.STATE)
                self.assertTrue(state["hot"])
                seen.append(state["current"])
            # The next ones, and around: the lines of the bodies at least.
            self.assertGreaterEqual(len(set(seen)), 3)
            for expected in reversed(seen[:-1]):
                b.keys("p")
                self.assertEqual(b.run(self.STATE)["current"], expected)
            b.keys("]")
            self.assertEqual(b.run(self.STATE)["title"], "rest")
            b.keys("[")
            self.assertEqual(b.run(self.STATE)["title"], "lines")

    def test_jump_and_line(self):
        with Browser(dark=True) as b:
            b.open(self.page("-i", loop(), "divide"))
            link = b.run("return document.querySelector('.asm a[data-to]')")
            target = b.run("return arguments[0].textContent", link)
            b.click(link)
            row = b.run("return document.querySelector('.asm .cur .n').textContent")
            self.assertEqual("0x" + row, target)
            self.assertTrue(b.run(self.STATE)["code"])
            line = b.run("return document.querySelector('.source .top1')")
            b.click(line)
            state = b.run(self.STATE)
            self.assertFalse(state["code"])
            self.assertTrue(state["selected"])
            red, green, blue = [int(x) for x in re.findall(r"\d+", state["background"])[:3]]
            self.assertLess(red + green + blue, 200)

    def test_phone(self):
        with Browser(width=390, height=800, phone=True) as b:
            b.open(self.page("-i", template(), "sum_columns"))
            state = b.run(self.STATE)
            self.assertEqual((state["source"], state["asm"], state["overflow"]), (True, False, 0))
            b.click(b.run("return document.querySelector('[data-tab=code]')"))
            state = b.run(self.STATE)
            self.assertEqual((state["source"], state["asm"], state["overflow"]), (False, True, 0))
            b.click(b.run("return document.querySelector('[data-act=h]')"))
            state = b.run(self.STATE)
            self.assertTrue(state["code"] and state["hot"])


if __name__ == "__main__":
    unittest.main()

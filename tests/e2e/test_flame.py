#!/usr/bin/env python3
"""tacho flame and convert --to folded: the right shares, as the usual scripts have them, and a picture
that can be used in a browser."""

import json
import os
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ET

from browser import Browser
from helpers import TACHO, Case, needs_program
from shapes import shape

SIDE_BY_SIDE = True

SVG = "{http://www.w3.org/2000/svg}"

FOLDED = """\
prog;main;work;hot;spin 70
prog;main;work;cold;spin 25
prog;main;work;cold;read_[k] 5
"""

SCRIPT = """\
my prog 100/101 [001] 10.500000:     1000 cycles:u: 
\t    7f0000001000 leaf+0x10 (/usr/lib/libx.so.1)
\t    550000001000 main+0x20 (/usr/bin/prog)

my prog 100/101 [001] 11.500000:     1000 cycles:u: 
\t    7f0000001000 [unknown] (/usr/lib/libx.so.1)
\t    550000001000 main+0x20 (/usr/bin/prog)

other 200/200 [000] 12.500000:     3000 faults: 
\tffffffff81000000 do_fault+0x0 ([kernel.kallsyms])

"""


def frames_of(path):
    """(name, share in percent) of all frames of a picture."""
    found = []
    for rect in ET.parse(path).getroot().iter(SVG + "rect"):
        title = rect.find(SVG + "title")
        if title is not None:
            found.append((title.text.split("\n")[0], float(rect.get("width")[:-1])))
    return found


def folded_of(text):
    return dict(line.rsplit(" ", 1) for line in text.splitlines())


class Flame(Case):
    def flame(self, *options, status=0, **more):
        result = self.tacho("flame", *options, **more)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def svg(self, text, *options):
        path = self.path("out.svg")
        self.flame("-q", "-i", self.write("in.txt", text), "-o", path, *options)
        return path


class Input(Flame):
    def test_folded(self):
        shares = dict(frames_of(self.svg(FOLDED)))
        self.assertEqual(shares["all"], 100)
        self.assertEqual(shares["hot"], 70)
        self.assertEqual(shares["cold"], 30)

    def test_perf_script(self):
        path = self.write("in.txt", SCRIPT)
        result = self.flame("-i", path, "--format", "folded")
        self.assertEqual(result.stdout, "my_prog;main;[libx.so.1] 1000\nmy_prog;main;leaf 1000\n")
        self.assertIn("shows cycles:u of 2 events", result.stderr)

    def test_event(self):
        path = self.write("in.txt", SCRIPT)
        for option in (["--event", "faults"], ["--by", "faults"]):
            result = self.flame("-i", path, "--format", "folded", *option)
            self.assertEqual(result.stdout, "other;do_fault 3000\n")
        result = self.flame("-i", path, "--format", "folded", "--by", "event")
        self.assertIn("cycles:u;main;leaf 1000\n", result.stdout)
        self.assertIn("faults;do_fault 3000\n", result.stdout)
        self.assertIn("no event 'nothing'", self.flame("-i", path, "--by", "nothing", status=2).stderr)

    def test_groups(self):
        path = self.write("in.txt", SCRIPT)
        for by, name in (("tid", "my_prog-100/101;"), ("pid", "my_prog-100;"), ("cpu", "CPU_1;"),
                         ("none", "main;leaf ")):
            result = self.flame("-q", "-i", path, "--format", "folded", "--by", by)
            self.assertTrue(result.stdout.splitlines()[-1].startswith(name), result.stdout)

    def test_filters(self):
        path = self.write("in.txt", SCRIPT)

        def total(*options):
            text = self.flame("-q", "-i", path, "--format", "folded", *options).stdout
            return sum(map(int, folded_of(text).values()))
        self.assertEqual(total("--time", "11,12"), 1000)
        self.assertEqual(total("--comm", "other"), 3000)
        self.assertEqual(total("--tid", "101"), 2000)
        self.assertEqual(total("-C", "0"), 3000)
        self.assertEqual(total("--max-stack", "1", "--comm", "my prog"), 2000)

    def test_parts_show_the_event_of_the_whole(self):
        def sample(time, event):
            return f"prog 1/1 [000] {time}: 1 {event}: \n\t 1000 main+0x0 (/bin/prog)\n\n"
        text = "".join(sample(f"{t}.0", "cycles") for t in range(10, 15))
        text += sample("15.0", "faults") + sample("15.1", "faults") + sample("15.2", "cycles")
        text += sample("16.0", "faults")
        path = self.write("in.txt", text)

        def shown(*options):
            return self.flame("-i", path, "-o", self.path("out.svg"), *options).stderr
        self.assertIn("shows cycles of 2 events", shown())
        self.assertIn("shows cycles of 2 events", shown("--time", "15,15.5"))
        # Without any sample of it, the part shows what it has.
        self.assertIn("main 1\n", self.flame("-i", path, "--time", "16,", "--format", "folded").stdout)
        self.assertIn("shows faults, as there are no samples of cycles here", shown("--time", "16,"))
        self.assertEqual(shown("--event", "faults", "--time", "16,").count("cycles"), 0)
        self.assertNotIn("2 events", shown("--event", "faults", "--time", "15,15.5"))

    def test_parts_of_a_recording_show_the_event_of_the_whole(self):
        path = self.path("x.data")
        work = ("import mmap, time\n"
                "for i in range(30):\n"
                "    mmap.mmap(-1, 4096)[0] = 1\n"
                "    for j in range(6): time.sleep(0.0005)\n")
        result = self.tacho("record", "-q", "-e", "page-faults,context-switches", "-c", "1", "-o", path, "--",
                            sys.executable, "-c", work)
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [line.split() for line in self.tacho("script", "-F", "time,event", "-i", path).stdout.splitlines()]
        times = [(words[0].rstrip(":"), words[1].split(":")[0]) for words in lines if len(words) == 2]
        names = [name for _, name in times]
        self.assertGreater(names.count("page-faults"), names.count("context-switches"))
        # A part with page faults, but with more context switches.
        at = next(i for i in reversed(range(len(names) - 7)) if 1 <= names[i:i + 7].count("page-faults") <= 2)
        part = ",".join((times[at][0], times[at + 6][0]))
        shown = self.flame("-i", path, "-o", self.path("out.svg"), "--time", part).stderr
        self.assertIn("shows page-faults of 2 events", shown)

    def test_filters_that_cannot_be(self):
        path = self.write("in.txt", FOLDED)
        for option in (["--time", "1,2"], ["--comm", "a"], ["--cpu", "1"]):
            result = self.flame("-i", path, *option, status=1)
            self.assertIn("the text says nothing of", result.stderr)

    def test_pipe(self):
        result = self.flame("-i", "-", "--format", "folded", input=FOLDED)
        self.assertIn("prog;main;work;hot;spin 70\n", result.stdout)

    def test_errors(self):
        self.assertIn("cannot open 'perf.data'", self.flame(status=1).stderr)
        path = self.write("in.txt", "hello, world\n")
        self.assertIn("neither perf.data nor folded stacks nor text of perf script",
                      self.flame("-i", path, status=1).stderr)
        path = self.write("in.txt", FOLDED)
        self.assertIn("cannot write", self.flame("-i", path, "-o", "/no/where.svg", status=1).stderr)
        self.flame("-i", path, "--min", "x", status=2)
        self.flame("-i", path, "--format", "png", status=2)
        self.flame("-i", path, "--color", "pink", status=2)
        self.assertIn("one file at a time", self.flame(path, path, status=2).stderr)

    def test_bad_lines_are_told(self):
        path = self.write("in.txt", FOLDED + "what is this\n")
        result = self.flame("-i", path, "--format", "folded")
        self.assertIn("1 line is not as expected and left out (the first: line 4)", result.stderr)

    def test_full_disk(self):
        path = self.write("in.txt", FOLDED)
        self.assertIn("cannot write '/dev/full'", self.flame("-i", path, "-o", "/dev/full", status=1).stderr)


class Memory(Flame):
    def peak_bytes(self, *args):
        with subprocess.Popen([TACHO, *args]) as process:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return used.ru_maxrss * 1024

    def test_names_that_are_all_different(self):
        """118 bytes a name, of which malloc has 30 free; 264 when each name was a frame with a hashed stack.

        Huge pages, if all memory is of such, add 5 MB to 153 MB; the limit is 218 MB."""
        lines, depth = 100000, 13
        path = self.path("in.txt")
        with open(path, "w") as out:
            for line in range(lines):
                out.write(";".join("f%d_%d" % (line, n) for n in range(depth)) + " 1\n")
        peak = self.peak_bytes("flame", "-q", "-i", path, "-o", self.path("out.svg"))
        self.assertLess(peak, 10e6 + 160 * lines * depth)


class Output(Flame):
    def test_json(self):
        path = self.write("in.txt", FOLDED)
        tree = json.loads(self.flame("-i", path, "--format", "json").stdout)
        self.assertEqual((tree["name"], tree["value"]), ("all", 100))
        work = tree["children"][0]["children"][0]["children"][0]
        self.assertEqual({c["name"]: c["value"] for c in work["children"]}, {"hot": 70, "cold": 30})

    def test_reverse(self):
        path = self.write("in.txt", FOLDED)
        result = self.flame("-i", path, "--format", "folded", "--reverse")
        self.assertIn("spin;hot;work;main;prog 70\n", result.stdout)

    def test_direction(self):
        for option, top in ((), False), (("--icicle",), True):
            rects = list(ET.parse(self.svg(FOLDED, *option)).getroot().iter(SVG + "rect"))
            ys = {r.find(SVG + "title").text.split("\n")[0]: int(r.get("y")) for r in rects
                  if r.find(SVG + "title") is not None}
            self.assertEqual(ys["all"] < ys["spin"], top)

    def test_small_frames_are_left_out(self):
        path = self.svg(FOLDED, "--min", "10")
        self.assertNotIn("read", dict(frames_of(path)))
        with open(path) as text:
            self.assertIn("1 frame below 10.00 % is not drawn", text.read())

    def test_zero_leaves_nothing_out(self):
        lines = "".join(f"prog;main;f{i} 1\n" for i in range(50)) + "prog;main;wide 1000000\n"
        self.assertNotIn("f7", dict(frames_of(self.svg(lines))))
        path = self.svg(lines, "--min", "0")
        self.assertIn("f7", dict(frames_of(path)))
        with open(path) as text:
            self.assertNotIn("not drawn", text.read())

    def test_events_side_by_side(self):
        """Periods of two events have no common measure."""
        path = self.path("by.svg")
        self.flame("-q", "-i", self.write("in.txt", SCRIPT), "--by", "event", "-o", path)
        shares = dict(frames_of(path))
        self.assertAlmostEqual(shares["cycles:u"] + shares["faults"], 100, delta=0.01)
        self.assertGreater(shares["faults"], 20)

    def test_needs_nothing_from_outside(self):
        with open(self.svg(FOLDED)) as text:
            found = set(re.findall(r"https?://[^\"' ]+", text.read()))
        self.assertEqual(found, {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"})

    def test_names_cannot_break_out(self):
        evil = "</title><script>alert(1)</script>]]>"
        frames = dict(frames_of(self.svg(f"main;{evil} 5\nmain;\x1b[1m\x01 3\n")))
        self.assertIn(evil, frames)
        with open(self.path("out.svg")) as text:
            self.assertEqual(text.read().count("<script>"), 1)

    def test_convert(self):
        path = self.write("in.txt", SCRIPT)
        result = self.tacho("convert", "-i", path, "--to", "folded", "--event", "faults", "--kernel", "-o", "-")
        self.assertEqual(result.stdout, "other;do_fault_[k] 3000\n")


class Recorded(Flame):
    def recorded(self, *before):
        path = self.path("shape.data")
        result = self.tacho("record", "-q", "-g", "-e", "cpu-clock", "-c", "200000", "-o", path, "--", *before, shape())
        self.assertEqual(result.returncode, 0, result.stderr)
        return path

    def test_shape(self):
        path = self.recorded()
        self.flame("-q", "-i", path, "-o", self.path("out.svg"))
        # A sample in the first instruction of a function misses a caller: such a frame stands beside the large one.
        shares = dict(sorted(frames_of(self.path("out.svg")), key=lambda frame: frame[1]))
        whole = shares["work"]
        self.assertGreater(whole, 80)
        self.assertAlmostEqual(shares["hot"] / whole, 0.7, delta=0.06)
        self.assertAlmostEqual(shares["cold"] / whole, 0.3, delta=0.06)

    def test_inlined(self):
        path = self.recorded()
        text = self.tacho("convert", "-i", path, "--to", "folded", "--all", "-o", "-").stdout
        self.assertRegex(text, r"(?m)^shape;.*;main;work;hot;spin;small_\[i\] \d+$")

    def test_pipe(self):
        path = self.recorded()
        with open(path, "rb") as data:
            piped = subprocess.run([TACHO, "flame", "-i", "-", "--format", "folded"], stdin=data,
                                   capture_output=True, text=True)
        self.assertEqual(piped.returncode, 0, piped.stderr)
        self.assertEqual(piped.stdout, self.flame("-i", path, "--format", "folded").stdout)

    def test_like_perf_script(self):
        """The program's own functions, against the text that perf makes of the same file."""
        needs_program("perf")
        path = self.recorded()
        script = subprocess.run(["perf", "script", "--no-inline", "-i", path], capture_output=True, text=True)
        self.assertEqual(script.returncode, 0, script.stderr)
        theirs = folded_of(self.flame("-i", self.write("perf.txt", script.stdout), "--format", "folded").stdout)
        ours = folded_of(self.flame("-i", path, "--no-inline", "--format", "folded").stdout)
        self.assertEqual(sum(map(int, theirs.values())), sum(map(int, ours.values())))
        same = sum(min(int(n), int(ours.get(stack, 0))) for stack, n in theirs.items())
        self.assertGreater(same / sum(map(int, theirs.values())), 0.98)

    def test_damaged(self):
        # On one CPU: what a program that moves had mapped may stand in the part that is lost.
        path = self.recorded("taskset", "-c", str(min(os.sched_getaffinity(0))))
        os.truncate(path, os.path.getsize(path) * 2 // 3)
        result = self.flame("-q", "-i", path, "-o", self.path("out.svg"), status=1)
        self.assertIn("what can be read is shown", result.stderr)
        self.assertIn("work", dict(frames_of(self.path("out.svg"))))


FRAME = """return [...document.querySelectorAll('.graph rect')]
	.find(r => r.firstElementChild.textContent.split('\\n')[0] === arguments[0])"""
WIDTH = """const r = arguments[0]; return r.getAttribute('display') === 'none' ? 0
	: parseFloat(r.getAttribute('width'))"""
DETAIL = "return document.querySelector('.bar .detail').textContent"


class InBrowser(Flame):
    def opened(self, text=FOLDED, **kind):
        b = Browser(**kind)
        self.addCleanup(b.close)
        b.open(self.svg(text))
        return b

    def width(self, b, name):
        return b.run(WIDTH, b.run(FRAME, name))

    def button(self, b, name):
        b.click(b.run("return [...document.querySelectorAll('.button')].find(g => "
                      "g.textContent.startsWith(arguments[0]))", name))

    def test_zoom_and_reset(self):
        b = self.opened()
        self.assertEqual(self.width(b, "cold"), 30)
        b.click(b.run(FRAME, "cold"))
        self.assertEqual(self.width(b, "cold"), 100)
        self.assertEqual(self.width(b, "hot"), 0)
        self.assertAlmostEqual(self.width(b, "read"), 100 * 5 / 30, places=2)
        self.assertEqual(self.width(b, "main"), 100)
        self.button(b, "Reset")
        self.assertEqual(self.width(b, "cold"), 30)
        self.assertEqual(self.width(b, "hot"), 70)

    def test_search(self):
        b = self.opened()
        self.button(b, "Search")
        b.keys("^READ$")
        self.assertEqual(b.run(DETAIL), "matched: 0.00 %")
        b.keys("Escape", "/", "^(cold|read)$")
        self.assertEqual(b.run(DETAIL), "matched: 30.00 %")
        hits = b.run("return [...document.querySelectorAll('.hit')].map("
                     "r => r.firstElementChild.textContent.split('\\n')[0])")
        self.assertEqual(sorted(hits), ["cold", "read"])
        b.keys("(")
        self.assertEqual(b.run(DETAIL), "not a regular expression")
        b.keys("Escape")
        self.assertEqual(b.run("return document.querySelectorAll('.hit').length"), 0)

    def test_keys(self):
        b = self.opened()
        b.keys("Home", "Up", "Up", "Up", "Up")  # to prog, main, work, hot
        self.assertTrue(b.run(DETAIL).startswith("hot  ·  70 samples, 70.00 %"), b.run(DETAIL))
        b.keys("Left", "Enter")
        self.assertEqual(self.width(b, "cold"), 100)
        b.keys("Down")
        self.assertTrue(b.run(DETAIL).startswith("work  ·  100 samples"), b.run(DETAIL))
        b.keys("Escape")
        self.assertEqual(self.width(b, "cold"), 30)
        b.keys("?")
        self.assertEqual(b.run("return document.querySelectorAll('.help').length"), 1)
        b.keys("Escape")
        self.assertEqual(b.run("return document.querySelectorAll('.help').length"), 0)
        # Where Tab goes behind the last one is the browser's to decide.
        reached = set()
        for _ in range(4):
            b.keys("Tab")
            reached.add(b.run("return document.activeElement && document.activeElement.getAttribute('class')"))
        self.assertIn("button", reached)

    def test_match_stays_in_sight(self):
        b = self.opened()
        b.keys("/", "^read$", "Enter")
        self.assertTrue(b.run(DETAIL).startswith("matched: 5.00 %  ·  all  ·  "), b.run(DETAIL))

    def test_height(self):
        """A deep graph is in the window as long as its names can be read, and by a key in any case."""
        def deep(rows):
            return "prog;" + ";".join(f"f{i}" for i in range(rows)) + " 7\n"
        top_and_bottom = """const r = [...document.querySelectorAll('.graph rect')].map(
			r => r.getBoundingClientRect()); return [Math.min(...r.map(r => r.top)),
			Math.max(...r.map(r => r.bottom)), innerHeight]"""
        b = self.opened(deep(45))
        top, bottom, window = b.run(top_and_bottom)
        self.assertGreater(top, 40)
        self.assertLess(bottom, window)
        self.assertTrue(b.run("return [...document.querySelectorAll('.graph text')].some("
                              "t => t.textContent === 'f44' && t.getAttribute('display') !== 'none')"))
        b.open(self.svg(deep(150)))
        self.assertLess(b.run(top_and_bottom)[0], 0)
        b.keys("f")
        top, bottom, window = b.run(top_and_bottom)
        self.assertGreater(top, 40)
        self.assertLess(bottom, window)
        b.keys("f")
        self.assertLess(b.run(top_and_bottom)[0], 0)

    def test_hover(self):
        b = self.opened()
        b.run("arguments[0].dispatchEvent(new MouseEvent('mousemove', {bubbles: true}))", b.run(FRAME, "read"))
        self.assertIn("read  ·  5 samples, 5.00 %", b.run(DETAIL))

    def test_narrow(self):
        b = self.opened(width=390, height=800, phone=True)
        box = b.run("const r = arguments[0].getBoundingClientRect(); return [r.left, r.right, innerWidth]",
                    b.run(FRAME, "all"))
        self.assertGreaterEqual(box[0], 0)
        self.assertLessEqual(box[1], box[2])
        # Nothing sticks out of its frame.
        self.assertEqual(b.run("""return [...document.querySelectorAll('.graph text')].filter(t =>
			t.getAttribute('display') !== 'none' && t.getBoundingClientRect().right >
			t.previousElementSibling.getBoundingClientRect().right + 1).length"""), 0)

    def test_dark(self):
        colours = []
        for dark in (False, True):
            b = self.opened(dark=dark)
            colours.append(b.run("return getComputedStyle(document.querySelector('.paper')).fill"))
        self.assertEqual(colours[0], "rgb(255, 255, 255)")
        self.assertNotEqual(colours[0], colours[1])

    def test_shown_again_in_a_page(self):
        """Put into an HTML page, it works there too."""
        svg = self.svg(FOLDED)
        with open(svg) as text:
            picture = text.read().split("?>", 1)[1].replace("<![CDATA[", "").replace("]]></script>", "</script>")
        page = self.write("page.html", "<!doctype html><p>before</p>" + picture)
        b = Browser()
        self.addCleanup(b.close)
        b.open(page)
        b.click(b.run(FRAME, "cold"))
        self.assertEqual(self.width(b, "cold"), 100)


if __name__ == "__main__":
    unittest.main()

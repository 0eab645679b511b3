#!/usr/bin/env python3
"""tacho diff: what changed between two recordings, as a picture and as a table."""

import json
import re
import unittest
import xml.etree.ElementTree as ET

from browser import Browser
from helpers import Case
from shapes import shape

SIDE_BY_SIDE = True

SVG = "{http://www.w3.org/2000/svg}"
BEFORE = "m;f 60\nm;g 20\nm;gone;deep 20\n"
AFTER = "m;f 30\nm;g 100\nm;new 70\n"


class Diff(Case):
    def diff(self, *options, status=0):
        result = self.tacho("diff", *options)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def pair(self):
        return [self.write("a.folded", BEFORE), self.write("b.folded", AFTER)]

    def sections(self, path):
        """For each graph: name → (class, share of the width in percent)."""
        found = []
        for graph in ET.parse(path).getroot().iter(SVG + "svg"):
            if graph.get("class") == "graph":
                found.append({r.find(SVG + "title").text.split("\n")[0]:
                              (r.get("class").split()[0], float(r.get("width")[:-1]))
                              for r in graph.iter(SVG + "rect")})
        return found


class Text(Diff):
    def test_picture(self):
        a, b = self.pair()
        self.diff("-q", "-i", a, "-i", b, "-o", self.path("d.svg"))
        first, second = self.sections(self.path("d.svg"))
        self.assertEqual(first["new"], ("p7", 35.0))
        self.assertEqual(first["f"][0][0], "n")
        self.assertEqual(first["g"][0][0], "p")
        self.assertEqual(first["all"][0], "p0")
        self.assertNotIn("gone", first)
        self.assertEqual(second["deep"], ("n5", 20.0))
        self.assertEqual(second["m"][0], "g0")
        self.assertNotIn("new", second)

    def test_negate(self):
        a, b = self.pair()
        self.diff("-q", "--negate", a, b, "-o", self.path("d.svg"))
        first, second = self.sections(self.path("d.svg"))
        self.assertEqual(first["f"][1], 60)
        self.assertEqual(first["f"][0][0], "n")
        self.assertEqual(first["gone"][1], 20)
        self.assertEqual(second["new"][0][0], "p")

    def test_table(self):
        result = self.diff("--table", *self.pair())
        rows = {line.split()[-1]: line.split()[:-1] for line in result.stdout.splitlines()
                if re.match(r"^ +\d", line)}
        self.assertEqual(rows["f"], ["60.00", "15.00", "-45.00"] * 2)
        self.assertEqual(rows["new"], ["0.00", "35.00", "+35.00"] * 2)
        self.assertEqual(rows["gone"], ["0.00", "0.00", "+0.00", "20.00", "0.00", "-20.00"])
        self.assertEqual(next(iter(rows)), "f")

    def test_not_normalized(self):
        rows = json.loads(self.diff("--json", "--no-normalize", *self.pair()).stdout)["functions"]
        f = next(r for r in rows if r["name"] == "f")
        self.assertAlmostEqual(f["self"]["before_pct"], 30)
        self.assertAlmostEqual(f["self"]["change_pct"], -15)

    def test_json(self):
        answer = json.loads(self.diff("--json", "--limit", "2", *self.pair()).stdout)
        self.assertEqual((answer["before"]["samples"], answer["after"]["samples"]), (100, 200))
        self.assertEqual([f["name"] for f in answer["functions"]], ["f", "new"])

    def script(self, name, counts):
        """Text of perf script with so many samples of each event, one a second in their order."""
        text, time = "", 10
        for event, count in counts:
            for _ in range(count):
                text += f"prog 1/1 [000] {time}.0: 1 {event}: \n\t 1000 main+0x0 (/bin/prog)\n\n"
                time += 1
        return self.write(name, text)

    def test_events_are_named(self):
        a = self.script("a.txt", [("cycles", 5), ("faults", 2)])
        result = self.diff("--table", a, a)
        self.assertIn("before: " + a + ", 5 samples of cycles\n", result.stdout)
        self.assertIn("diff: compares cycles of 2 events; --event chooses another", result.stderr)
        answer = json.loads(self.diff("--json", "--event", "faults", a, a).stdout)
        self.assertEqual([answer[side]["event"] for side in ("before", "after")], ["faults"] * 2)
        self.diff("-o", self.path("out.svg"), a, a)
        self.assertIn("(5 samples of cycles) to ", open(self.path("out.svg"), encoding="utf-8").read())
        # Folded stacks do not say what was counted.
        self.assertIsNone(json.loads(self.diff("--json", *self.pair()).stdout)["after"]["event"])

    def test_events_are_named_after_the_texts_have_moved(self):
        # Groups by process add a text. For some length of those before it, that moves all of them; freed memory
        # is overwritten here.
        for size in range(1, 70):
            name = "e" * size
            a = self.script("a.txt", [(name, 1)])
            result = self.tacho("diff", "--table", a, a, env={"MALLOC_PERTURB_": "165"})
            self.assertIn("1 sample of %s\n" % name, result.stdout)

    def test_parts_without_the_event_of_the_whole(self):
        both = self.script("a.txt", [("cycles", 5), ("faults", 2)])
        other = self.script("b.txt", [("faults", 5), ("cycles", 7)])
        # After: faults only. Before: the event is there, but only faults are in the part.
        result = self.diff("--table", "--time", "15,", both, other)
        self.assertIn("2 samples of faults\n", result.stdout)
        self.assertIn("has no cycles: faults is compared with it", result.stderr)
        result = self.diff("--table", "--time", "15,", both, both)
        self.assertIn("compares faults, as there are no samples of cycles here", result.stderr)

    def test_one_file_with_two_counts(self):
        path = self.write("d.folded", "m;f 60 30\nm;g 40 70\n")
        rows = json.loads(self.diff("--json", path).stdout)["functions"]
        self.assertEqual({r["name"]: round(r["self"]["change_pct"]) for r in rows}, {"f": -30, "g": 30, "m": 0})

    def test_errors(self):
        a, b = self.pair()
        for words in ([], [a], [a, b, a], ["--by", "tid", a, b], ["--min", "-1", a, b]):
            self.assertTrue(self.diff(*words, status=2).stderr.startswith("tacho: diff: "))
        self.assertIn("cannot open", self.diff(a, self.path("none"), status=1).stderr)


class Recorded(Diff):
    def recorded(self, name, program):
        path = self.path(name)
        result = self.tacho("record", "-q", "-g", "-e", "cpu-clock", "-c", "200000", "-o", path, "--", program)
        self.assertEqual(result.returncode, 0, result.stderr)
        return path

    def test_what_grew(self):
        a = self.recorded("a.data", shape())
        b = self.recorded("b.data", shape("slower", extra="spin(10000);"))
        rows = {r["name"]: r for r in json.loads(self.diff("--json", a, b).stdout)["functions"]}
        # Half of the time is spent below the recursion now.
        self.assertAlmostEqual(rows["down"]["total"]["change_pct"], 50, delta=8)
        self.assertAlmostEqual(rows["hot"]["total"]["change_pct"], -35, delta=8)
        self.assertLess(abs(rows["work"]["total"]["change_pct"]), 5)

    def test_two_levels_of_the_compiler(self):
        a = self.recorded("a.data", shape("plain", optimise="-O0"))
        b = self.recorded("b.data", shape())
        self.diff("-q", a, b, "-o", self.path("d.svg"))
        first = self.sections(self.path("d.svg"))[0]
        # The programs have different names; their functions meet all the same.
        for name in ("main", "work", "hot", "cold", "spin"):
            self.assertIn(name, first)
        self.assertLess(int(first["work"][0][1:]), 8)
        rows = {r["name"]: r for r in json.loads(self.diff("--json", a, b).stdout)["functions"]}
        self.assertGreater(rows["hot"]["total"]["before_pct"], 50)
        self.assertGreater(rows["hot"]["total"]["after_pct"], 50)


class InBrowser(Diff):
    def test_both_graphs_zoom(self):
        a, b = self.pair()
        self.diff("-q", a, b, "-o", self.path("d.svg"))
        with Browser() as w:
            w.open(self.path("d.svg"))
            frame = """const g = document.querySelectorAll('svg.graph')[arguments[0]];
				return [...g.querySelectorAll('rect')].find(r =>
				r.firstElementChild.textContent.startsWith(arguments[1] + '\\n'))"""
            w.click(w.run(frame, 0, "g"))
            self.assertEqual(w.run("return arguments[0].getAttribute('width')", w.run(frame, 0, "g")), "100%")
            # The other one is as it was.
            self.assertEqual(w.run("return arguments[0].getAttribute('width')", w.run(frame, 1, "gone")), "20%")
            self.assertIn("before 20.00 %, after 50.00 %",
                          w.run("return document.querySelector('.bar .detail').textContent"))
            w.keys("/", "deep")
            self.assertEqual(w.run("return document.documentElement.dataset.matched"),
                             "matched: 0.00 % and 20.00 %")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""What a run has kept does not need the program any more: it is rebuilt, deleted, the server is started
anew, and all answers are the same. And perf.data that is made from the store has the shares of the
stored run."""

import json
import os
import re
import subprocess

from helpers import needs_program
from server import ServerCase

SIDE_BY_SIDE = True

# A round of both functions is much shorter than the time between two samples: were it some samples long,
# samples could keep step with it.
PROGRAM_C = r"""
#include <stdlib.h>
#include <time.h>
volatile unsigned long sum;
static inline __attribute__((always_inline)) void gone_inlined(int n)
{
	for (int i = 0; i < n; i++)
		sum += i * 3; /* the hot line */
}
__attribute__((noinline)) void gone_sixty(void)
{
	gone_inlined(6000);
}
__attribute__((noinline)) void gone_forty(void)
{
	for (int i = 0; i < 4000; i++)
		sum += i * 3;
}
__attribute__((noinline)) void gone_both(void)
{
	gone_sixty();
	gone_forty();
	sum++;
}
int main(int argc, char **argv)
{
	struct timespec t;
	double end = argc > 1 ? atof(argv[1]) : 1;

	do {
		gone_both();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_sec + t.tv_nsec / 1e9 < end);
	return 0;
}
"""


class StoredRuns(ServerCase):
    def record(self, program, seconds="0.6"):
        run = self.server.run(self.server.session(), [program, seconds], tool="record",
                              sample={"events": ["cpu-clock:u"], "frequency": 2000})
        run = self.server.wait_run(run["uuid"])
        self.assertEqual(run["state"], "done", run)
        self.assertGreater(run["samples"], 500)
        return run["uuid"]

    def build(self, source, *flags):
        """In a directory of its own: program and source can be deleted."""
        path = os.path.join(self.home, "gone-program")
        with open(path + ".c", "w") as file:
            file.write(source)
        compiler = needs_program("cc")
        subprocess.run([compiler, "-w", "-g", "-o", path, path + ".c", *flags], check=True)
        return path

    def program(self):
        return self.build(PROGRAM_C, "-O0", "-fno-omit-frame-pointer")


class ProgramIsGone(StoredRuns):
    def middle(self, uuid):
        """A time with as many samples before it as after it."""
        times = sorted(self.server.get("benchmark/%s/points" % uuid, {"max": 200000})["t"])
        return times[len(times) // 2]

    def answers(self, first, second):
        def get(path, **query):
            return self.server.get(path, query)

        return {
            "annotate": get("benchmark/%s/annotate" % first, function="gone_sixty"),
            "window": get("benchmark/%s/annotate" % first, function="gone_forty", to=self.middle(first)),
            "flame": get("benchmark/%s/flame" % first),
            "functions": get("benchmark/%s/functions" % first),
            "diff": get("diff", before=first, after=second),
        }

    def assert_same(self, before, after):
        for name in before:
            self.assertEqual(json.dumps(before[name], sort_keys=True),
                             json.dumps(after[name], sort_keys=True), name)

    def test_all_answers_stay(self):
        program = self.program()
        first, second = self.record(program), self.record(program)
        before = self.answers(first, second)
        self.build("int unrelated;\n" + PROGRAM_C.replace("gone_sixty", "another"), "-O1")
        self.server.restart()
        self.assert_same(before, self.answers(first, second))
        os.unlink(program)
        os.unlink(program + ".c")
        self.server.restart()
        after = self.answers(first, second)
        self.assert_same(before, after)

        function = after["annotate"]["functions"][0]
        self.assertNotIn("problem", function)
        self.assertAlmostEqual(function["share_of_all_pct"], 60, delta=8)
        hottest = max(function["lines"], key=lambda line: line["weight"])
        self.assertIn(hottest["line"], (7, 8))
        self.assertTrue(any("the hot line" in line.get("text", "") for line in function["lines"]))
        self.assertTrue(any(i.get("inlined") == "gone_inlined" for i in function["instructions"]))
        self.assertAlmostEqual(sum(i["share_pct"] for i in function["instructions"]), 100, delta=1)
        part = after["window"]["functions"][0]
        self.assertLess(part["samples"], after["window"]["samples"])
        self.assertLess(after["window"]["samples"], after["annotate"]["samples"])


class MadeRecording(StoredRuns):
    def test_perf_shows_the_same_shares(self):
        perf = needs_program("perf")
        uuid = self.record(self.program(), "1")
        path = os.path.join(self.home, "made.data")
        answer = self.server.expect(200, "GET", "benchmark/%s.data" % uuid)
        with open(path, "wb") as file:
            file.write(answer.body)
        functions = self.server.get("benchmark/%s/functions" % uuid, {"limit": 1000})["functions"]
        total = sum(f["self"] for f in functions)
        ours = {f["name"]: 100 * f["self"] / total for f in functions if f["self"]}
        text = subprocess.run([perf, "report", "-i", path, "--no-children", "--stdio", "-g", "none",
                               "--sort", "sym"], capture_output=True, text=True, check=True,
                              env=dict(os.environ, HOME=self.home)).stdout
        theirs = {name: float(share) for share, name in
                  re.findall(r"^\s+([\d.]+)%\s+\[.\]\s+(\S+)", text, re.M)}
        self.assertIn("gone_sixty", ours)
        for name, share in ours.items():
            self.assertAlmostEqual(theirs.get(name, 0), share, delta=0.2, msg=text)

    def test_tacho_reads_it(self):
        uuid = self.record(self.program())
        path = os.path.join(self.home, "made.data")
        with open(path, "wb") as file:
            file.write(self.server.get_bytes("benchmark/%s.data" % uuid))
        report = json.loads(self.tacho("report", "-i", path, "--json").stdout)
        stored = {f["name"]: f for f in
                  self.server.get("benchmark/%s/functions" % uuid)["functions"]}
        section = report["sections"][0]
        found = {}
        for entry in section["entries"]:
            if not entry.get("inlined"):
                one = found.setdefault(entry["symbol"], [0, 0])
                one[0] += entry["self_samples"]
                one[1] += entry["total_samples"]
        for name in ("gone_sixty", "gone_forty", "gone_both", "main"):
            self.assertEqual(found[name][1], stored[name]["total_samples"], name)
        self.assertEqual(section["samples"], self.server.benchmark(uuid)["samples"])

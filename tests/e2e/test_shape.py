#!/usr/bin/env python3
"""A program whose shape is known: what tacho shows of it, with frame pointers and with unwinding."""

import collections
import json
import os
import re
import shutil
import subprocess
import unittest

from helpers import TOP, Case, needs_namespace, shared_dir

SIDE_BY_SIDE = True

SOURCES = os.path.join(TOP, "tests", "e2e", "programs")
# Points of a hundred. Sampling is regular, work is counted and done in turns, so the real error is far below.
TOLERANCE = 4
# A recording has one for each millisecond of CPU time, 650 to 780. That holds beside tests/tools/steal at 40 %,
# 60 % and 85 % (735 to 780, none lost; perf record has as many), and the event's own count agrees: 592 to 600 ticks of
# 610 ms without tacho. A kernel that throttles takes far fewer (178 of 390 at a perf_event_max_sample_rate of 250);
# a hypervisor that stops the CPU could not be tried. Shares of so few cannot be told, so the recording is made again;
# the failure tells CPU time, lost samples and throttling of each.
SAMPLES_MIN = 300
RECORDINGS_MAX = 5
LEVELS = 8  # of the recursion, above the innermost


def built(mode):
    """The program and its plugin, without frame pointers for dwarf."""
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if not compiler:
        raise unittest.SkipTest("needs a C++ compiler")
    directory = os.path.join(shared_dir(), "shape-" + mode)
    program, plugin = os.path.join(directory, "shape"), os.path.join(directory, "shape_plugin.so")
    if not os.path.exists(program):
        os.makedirs(directory, exist_ok=True)
        # Optimised, but no functions that are made one, and with frame pointers all of them.
        flags = ["-O2", "-g", "-fno-optimize-sibling-calls", "-fno-inline-functions"]
        if "clang" not in os.path.realpath(compiler):
            flags += ["-fno-ipa-icf", "-fno-ipa-cp", "-fno-shrink-wrap"]
        flags += ["-fno-omit-frame-pointer" if mode == "fp" else "-fomit-frame-pointer"]
        subprocess.run([compiler, *flags, "-x", "c", "-shared", "-fPIC", "-o", plugin,
                        os.path.join(SOURCES, "shape_plugin.c")], check=True)
        subprocess.run([compiler, *flags, "-pthread", "-o", program + ".new",
                        os.path.join(SOURCES, "shape.cc"), "-ldl"], check=True)
        os.rename(program + ".new", program)
    return program, plugin


class Shape(Case):
    recorded = {}

    def record(self, mode, seventy=14, thirty=6, before=()):
        """The path of a recording, made once."""
        key = (mode, seventy, thirty, tuple(before))
        if key not in self.recorded:
            program, plugin = built(mode)
            path = os.path.join(shared_dir(), "shape-%d.data" % len(self.recorded))
            told = []
            for _ in range(RECORDINGS_MAX):
                used = os.times().children_user
                result = self.tacho("record", "-q", "-e", "cpu-clock:u", "-F", 1000, "--call-graph", mode,
                                    "-o", path, "--", *before, program, plugin, seventy, thirty)
                self.assertEqual(result.returncode, 0, result.stderr)
                used = os.times().children_user - used
                info = json.loads(self.tacho("info", "-i", path, "--json").stdout)
                told.append("%d samples of %.2f s of CPU time, %d lost, throttled %d times" %
                            (info["samples"], used, info["lost_samples"], info["throttled"]))
                if info["events"][0]["samples"] >= SAMPLES_MIN:
                    break
            else:
                self.fail("too few samples, each time: " + "; ".join(told))
            self.recorded[key] = path
        return self.recorded[key]

    def folded(self, path, *options):
        """Stacks as lists of names, the outermost first, the name of the task before it."""
        result = self.tacho("convert", "-q", "-i", path, "--to", "folded", "-o", "-", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        stacks = collections.Counter()
        for line in result.stdout.splitlines():
            text, _, weight = line.rpartition(" ")
            stacks[tuple(text.split(";"))] += int(weight)
        self.assertTrue(stacks)
        return stacks

    def share(self, stacks, name, of=None):
        """Of all stacks that have one of the names @of, those that have @name, in percent."""
        def has(stack, names):
            return any(frame in names for frame in stack)
        whole = sum(n for s, n in stacks.items() if of is None or has(s, of))
        self.assertTrue(whole, of)
        return 100 * sum(n for s, n in stacks.items() if has(s, [name])) / whole

    def paths_to(self, stacks, leaf):
        """The stacks that end in @leaf, by weight: the callers from main on."""
        found = collections.Counter()
        for stack, weight in stacks.items():
            if stack[-1] == leaf:
                found[stack[stack.index("main") if "main" in stack else 1:]] += weight
        self.assertTrue(found, leaf)
        return found

    def assertMostly(self, paths, wanted):
        """Nearly all stacks go that way; a sample at a function's edge may not."""
        whole = sum(paths.values())
        self.assertGreater(paths[wanted], 0.95 * whole, paths.most_common(5))


def for_both(test):
    def run(self):
        for mode in ("fp", "dwarf"):
            with self.subTest(mode=mode):
                test(self, mode)
    return run


class Stacks(Shape):
    @for_both
    def test_shares(self, mode):
        stacks = self.folded(self.record(mode))
        both = ["seventy", "thirty"]
        self.assertAlmostEqual(self.share(stacks, "seventy", both), 70, delta=TOLERANCE)
        self.assertAlmostEqual(self.share(stacks, "thirty", both), 30, delta=TOLERANCE)
        # 20 units of these two, two of each other kind: nine of them.
        self.assertAlmostEqual(self.share(stacks, "seventy"), 100 * 14 / 38, delta=TOLERANCE)
        self.assertMostly(self.paths_to(stacks, "seventy"), ("main", "seventy"))
        self.assertMostly(self.paths_to(stacks, "thirty"), ("main", "thirty"))

    @for_both
    def test_recursion(self, mode):
        paths = self.paths_to(self.folded(self.record(mode)), "recursion")
        self.assertMostly(paths, ("main",) + ("recursion",) * (LEVELS + 1))

    @for_both
    def test_signal_handler(self, mode):
        paths = self.paths_to(self.folded(self.record(mode)), "on_signal")
        for path in paths:
            self.assertEqual(path[0], "main")
        if mode == "dwarf":  # frame pointers cannot know the function that was interrupted
            best = paths.most_common(1)[0][0]
            self.assertEqual(best[:2], ("main", "interrupted"))
            self.assertIn("syscall", best)

    @for_both
    def test_loaded_library(self, mode):
        path = self.record(mode)
        self.assertMostly(self.paths_to(self.folded(path), "plugin_inner"),
                          ("main", "plugin", "plugin_work", "plugin_inner"))
        result = self.tacho("script", "-i", path, "-F", "ip,sym,dso")
        self.assertRegex(result.stdout, r"plugin_inner[^\n]* \(\S*/shape_plugin\.so\)")

    @for_both
    def test_processes_and_threads(self, mode):
        path = self.record(mode)
        stacks = self.folded(path)
        self.assertMostly(self.paths_to(stacks, "forked_work"), ("main", "children", "forked_work"))
        self.assertMostly(self.paths_to(stacks, "executed_work"), ("main", "executed_work"))
        tasks = collections.defaultdict(set)
        for stack in stacks:
            tasks[stack[-1]].add(stack[0])
        self.assertEqual(tasks["forked_work"], {"shape"})
        self.assertEqual(tasks["executed_work"], {"exe"})  # /proc/self/exe
        self.assertEqual(tasks["threaded_work"], {"shape_thread"})
        pids = collections.defaultdict(set)
        result = self.tacho("script", "-i", path, "-F", "comm,pid,ip,sym")
        for block in result.stdout.split("\n\n"):
            for name in ("seventy", "forked_work", "executed_work", "threaded_work"):
                if re.search(r"\b%s\b" % name, block):
                    pids[name].add(re.match(r"\s*\S+\s+(\d+)", block).group(1))
        self.assertEqual(pids["threaded_work"], pids["seventy"])
        self.assertEqual(len(pids["seventy"] | pids["forked_work"] | pids["executed_work"]), 3, pids)

    @for_both
    def test_inlined_function(self, mode):
        path = self.record(mode)
        self.assertMostly(self.paths_to(self.folded(path), "inlined_work"),
                          ("main", "with_inline", "inlined_work"))
        without = self.folded(path, "--no-inline")
        self.assertMostly(self.paths_to(without, "with_inline"), ("main", "with_inline"))
        self.assertFalse([s for s in without if "inlined_work" in s])

    @for_both
    def test_templates(self, mode):
        stacks = self.folded(self.record(mode))
        names = {frame for stack in stacks for frame in stack if "churn" in frame}
        self.assertEqual({re.sub(r"^void |\(.*", "", n) for n in names}, {"churn<int>", "churn<double>"})
        for name in names:
            self.assertMostly(self.paths_to(stacks, name), ("main", name))

    def test_unwound_to_the_end(self):
        """Without frame pointers every stack begins where its task began."""
        stacks = self.folded(self.record("dwarf"))
        # A thread begins in the C library, which has a name for that only with its debug file.
        good = sum(n for s, n in stacks.items()
                   if s[1].startswith(("_start", "clone", "__clone", "thread_start", "[libc.so")))
        self.assertGreater(good, 0.97 * sum(stacks.values()),
                           [s for s, n in stacks.most_common(20)])


class Views(Shape):
    @for_both
    def test_report(self, mode):
        result = self.tacho("report", "-i", self.record(mode), "--json", "--no-children", "--no-inline")
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self_pct = collections.Counter()
        for entry in report["sections"][0]["entries"]:
            self_pct[entry["symbol"]] += entry["self_percent"]
        both = self_pct["seventy"] + self_pct["thirty"]
        self.assertAlmostEqual(100 * self_pct["seventy"] / both, 70, delta=TOLERANCE)
        self.assertAlmostEqual(self_pct["seventy"], 100 * 14 / 38, delta=TOLERANCE)
        result = self.tacho("report", "-i", self.record(mode), "--stdio")
        lines = [x for x in result.stdout.splitlines() if re.search(r"\[\.\] main\s*$", x)]
        self.assertTrue(lines, result.stdout[:2000])

    @for_both
    def test_flame(self, mode):
        picture = self.path("shape.svg")
        result = self.tacho("flame", "-q", "-i", self.record(mode), "-o", picture)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(picture, encoding="utf-8") as text:
            svg = text.read()
        for name in ("seventy", "thirty", "recursion", "on_signal", "plugin_inner", "forked_work",
                     "executed_work", "threaded_work", "inlined_work", "churn&lt;double&gt;"):
            self.assertIn(name, svg)

    @for_both
    def test_diff(self, mode):
        """The same program with the two shares exchanged."""
        result = self.tacho("diff", "--json", self.record(mode), self.record(mode, 6, 14))
        self.assertEqual(result.returncode, 0, result.stderr)
        change = {f["name"]: f["self"]["change_pct"] for f in json.loads(result.stdout)["functions"]}
        self.assertAlmostEqual(change["seventy"], -100 * 8 / 38, delta=TOLERANCE)
        self.assertAlmostEqual(change["thirty"], 100 * 8 / 38, delta=TOLERANCE)
        self.assertAlmostEqual(change["recursion"], 0, delta=TOLERANCE)


class Container(Shape):
    def test_files_that_only_it_has(self):
        """In a namespace of mounts and processes, with the program on a file system of its own."""
        needs_namespace()
        inside = self.path("inside")
        os.makedirs(inside)
        for mode in ("fp", "dwarf"):
            with self.subTest(mode=mode):
                built(mode)
                begin = ("mount -t tmpfs tmpfs '%s' && cp \"$1\" \"$2\" '%s' && cd '%s' && shift 2 && "
                         "exec ./shape ./shape_plugin.so \"$@\"" % (inside, inside, inside))
                path = self.record(mode, before=["unshare", "--mount", "--pid", "--fork", "sh", "-c",
                                                 begin, "sh"])
                stacks = self.folded(path)
                both = ["seventy", "thirty"]
                self.assertAlmostEqual(self.share(stacks, "seventy", both), 70, delta=TOLERANCE)
                self.assertMostly(self.paths_to(stacks, "recursion"),
                                  ("main",) + ("recursion",) * (LEVELS + 1))
                self.assertMostly(self.paths_to(stacks, "plugin_inner"),
                                  ("main", "plugin", "plugin_work", "plugin_inner"))


if __name__ == "__main__":
    unittest.main()

"""`tacho info`: what recordings of many perfs hold, against what perf counts in them; damage; errors."""

import json
import os
import re
import subprocess
import unittest

from helpers import CORPUS, LIMIT_S, TACHO, Case, corpus_truth, environment, load, needs_root

SIDE_BY_SIDE = True

# Samples that perf makes up while it decodes a trace: they are not in the file.
MADE_UP = ("psb", "cbr", "branches")


def path_of(truth):
    return os.path.join(CORPUS, truth["file"])


class Info(Case):
    def info(self, *args, status=0, **more):
        result = self.tacho("info", *args, **more)
        self.assertEqual(result.returncode, status, result.stderr + result.stdout[-2000:])
        return result

    def object(self, *args, **more):
        return json.loads(self.info("--json", *args, **more).stdout)

    def fails(self, *args, status=1, **more):
        result = self.info(*args, status=status, **more)
        self.assertEqual(result.stdout, "")
        self.assertOneSentence(result.stderr)
        return result.stderr


def by_name(events, field):
    sums = {}
    for event in events:
        if event["samples"]:
            sums[event["name"]] = sums.get(event["name"], 0) + event[field]
    return sums


def real(truth, field):
    made_up = MADE_UP if "intel_pt" in truth["file"] else ()
    return {name: n for name, n in truth[field].items() if name not in made_up}


class Corpus(Info):
    def test_samples_and_periods(self):
        compared = 0
        for truth in corpus_truth():
            if not truth["perf_6_1_reads"]:
                continue
            with self.subTest(truth["file"]):
                seen = self.object(path_of(truth))
                self.assertEqual(by_name(seen["events"], "samples"), real(truth, "samples"))
                self.assertEqual(by_name(seen["events"], "period"), real(truth, "period"))
                self.assertEqual(seen["samples"], sum(real(truth, "samples").values()))
                self.assertEqual(seen["form"], "pipe" if truth["pipe"] else "file")
                self.assertEqual(seen["damages"], 0, seen["odd"])
                compared += 1
        self.assertGreater(compared, 20)

    def test_what_perf_cannot_read(self):
        for truth in corpus_truth():
            if truth["perf_6_1_reads"] or "corrupted" in truth["file"]:
                continue
            with self.subTest(truth["file"]):
                result = self.tacho("info", "--json", path_of(truth))
                seen = json.loads(result.stdout)
                self.assertGreater(seen["samples"], 0)
                self.assertGreater(seen["last_ns"], seen["first_ns"])
                if result.returncode:
                    self.assertEqual(result.returncode, 1)
                    self.assertRegex("\n".join(seen["odd"]), r"At offset \d+: ")

    def test_text_says_the_same(self):
        for truth in corpus_truth():
            if not truth["perf_6_1_reads"]:
                continue
            with self.subTest(truth["file"]):
                text = self.info(path_of(truth)).stdout
                for name, samples in real(truth, "samples").items():
                    line = re.compile(r"^ +%s +%s .*  %s( |$)" % (
                        format(samples, ","), format(truth["period"][name], ","), re.escape(name)), re.M)
                    self.assertRegex(text, line)

    def test_through_a_pipe(self):
        for truth in corpus_truth():
            if not truth["pipe"] or not truth["perf_6_1_reads"]:
                continue
            with self.subTest(truth["file"]):
                with open(path_of(truth), "rb") as data:
                    cat = self.start(["cat"], stdin=data, stdout=subprocess.PIPE, text=False)
                    seen = self.object("-i", "-", stdin=cat.stdout)
                self.assertEqual(by_name(seen["events"], "samples"), truth["samples"])
                self.assertEqual(seen["file"], "standard input")

    def corrupted(self):
        found = [t for t in corpus_truth() if "corrupted" in t["file"]]
        self.assertEqual(len(found), 1)
        return path_of(found[0])

    def test_corrupted(self):
        seen = self.object(self.corrupted(), status=1)
        self.assertEqual(seen["damages"], 1)
        self.assertRegex(seen["odd"][-1], r"^At offset 49104: ")
        # What stands before it is there.
        self.assertGreater(sum(r["bytes"] for r in seen["records"].values()), 40000)
        text = self.info(self.corrupted(), status=1).stdout
        self.assertIn("At offset 49104: ", text)

    def test_cut_short(self):
        """Half of a file: what is there is read, and where it ends is said."""
        truth = max((t for t in corpus_truth() if t["perf_6_1_reads"] and not t["pipe"]),
                    key=lambda t: sum(t["samples"].values()))
        with open(path_of(truth), "rb") as data:
            whole = data.read()
        path = self.write("half.data", whole[:len(whole) // 2])
        seen = self.object(path, status=1)
        self.assertGreater(seen["samples"], sum(truth["samples"].values()) // 4)
        self.assertLess(seen["samples"], sum(truth["samples"].values()))
        self.assertIn("At offset %d: the file is cut short" % (len(whole) // 2), "\n".join(seen["odd"]))

    def test_verbose(self):
        truth = [t for t in corpus_truth() if t["file"].endswith("perf.data.branch-4.14")][0]
        text = self.info("-v", path_of(truth)).stdout
        self.assertIn("BRANCH_STACK", text)
        self.assertIn("read_format", text)

    def test_default_name(self):
        data = open(path_of(corpus_truth()[0]), "rb").read()
        self.write("perf.data", data)
        self.assertIn("cpu-clock", self.info(cwd=self.home).stdout)


class Forms(Info):
    def test_pipe(self):
        empty = b"PERFILE2" + b"\x10" + b"\0" * 7
        text = self.info("-i", "-", input=empty, text=False).stdout.decode()
        self.assertIn("standard input, pipe form\n", text)
        self.assertIn("p, 16 B, pipe form\n", self.info(self.write("p", empty)).stdout)

    def test_directory(self):
        os.mkdir(self.path("d"))
        for name in ("data", "data.0", "data.1"):
            self.write("d/" + name, b"PERFILE2" + b"\x10" + b"\0" * 7 if name == "data" else
                       b"\x44\0\0\0\0\0\x08\0")
        seen = self.object(self.path("d"))
        self.assertEqual((seen["form"], seen["bytes"]), ("directory", 32))
        self.assertIn("32 B, pipe form in 3 files", self.info(self.path("d")).stdout)

    def test_frames(self):
        """Marks between the kernel's and the user's part of a stack are no frames."""
        needs_root("to record kernel addresses")
        path = self.path("g.data")
        result = self.tacho("record", "-q", "-g", "-e", "cpu-clock", "-c", "500000", "-o", path,
                            "--", *load("busy", 50))
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = self.tacho("script", "--json", "-i", path).stdout.splitlines()
        frames = sum(len(r["callchain"]) for r in map(json.loads, lines) if r["type"] == "SAMPLE")
        self.assertGreater(frames, 0)
        self.assertEqual(self.object(path)["events"][0]["frames"], frames)


class Bad(Info):
    def test_missing(self):
        self.assertIn("No such file", self.fails(self.path("none.data")))
        self.assertIn("perf.data", self.fails(cwd=self.home))

    def test_empty(self):
        self.assertIn("is empty", self.fails(self.write("empty", "")))
        self.assertIn("is empty", self.fails("-i", "-"))
        self.assertIn("is empty", self.fails("/dev/null"))

    def test_something_else(self):
        for content in ("x" * 7, "x" * 5000, "\0" * 5000, b"\xff" * 300, "PERFFILE" + "\0" * 200):
            with self.subTest(content[:8]):
                self.assertIn("is not perf.data", self.fails(self.write("other", content)))
        self.assertIn("is not perf.data", self.fails("/dev/zero"))
        self.assertIn("is not perf.data", self.fails(TACHO))
        self.assertIn("is a directory", self.fails(self.home))

    def test_header_only(self):
        self.assertIn("ends in its header", self.fails(self.write("h", b"PERFILE2" + b"\x68" + b"\0" * 7)))
        # A pipe may end before anything was said.
        self.info(self.write("p", b"PERFILE2" + b"\x10" + b"\0" * 7))

    def test_usage(self):
        self.fails("a", "b", status=2)
        self.fails("-i", "a", "b", status=2)

    def test_output_that_cannot_be_written(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("needs /dev/full")
        path = self.write("p", b"PERFILE2" + b"\x10" + b"\0" * 7)
        with open("/dev/full", "w") as full:
            result = subprocess.run([TACHO, "info", path], stdout=full, stderr=subprocess.PIPE,
                                    env=environment(self.home), timeout=LIMIT_S)
        self.assertEqual(result.returncode, 1)

    def test_escapes_do_not_reach_the_terminal(self):
        """A name in a file is not to be trusted with the terminal."""
        attr = (1).to_bytes(4, "little") + (64).to_bytes(4, "little") + bytes(56)
        name = b"\x1b]0;evil\x07\0".ljust(16, b"\0")
        update = (2).to_bytes(8, "little") + (7).to_bytes(8, "little") + name

        def record(kind, body):
            return kind.to_bytes(4, "little") + b"\0\0" + (8 + len(body)).to_bytes(2, "little") + body
        data = b"PERFILE2" + (16).to_bytes(8, "little")
        data += record(64, attr + (7).to_bytes(8, "little")) + record(64, attr + (8).to_bytes(8, "little"))
        data += record(78, update)
        # and in a group, whose leader is named once more
        data += record(80, (17).to_bytes(8, "little") + (1).to_bytes(4, "little") +
                       (8).to_bytes(4, "little") + b"{a,b}\0\0\0" +
                       (0).to_bytes(4, "little") + (2).to_bytes(4, "little"))
        path = self.write("escape.data", data)
        text = self.info(path).stdout
        self.assertIn("in the group of", text)
        self.assertNotIn("\x1b", text)
        self.assertIn("evil", text)
        self.assertEqual(self.object(path)["events"][0]["name"], "\x1b]0;evil\x07")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""tacho script: the same lines as perf script, filters, JSON, and files that are not whole."""

import collections
import json
import os
import re
import shutil
import struct
import signal
import subprocess
import tempfile
import unittest

from helpers import (CORPUS, LIMIT_S, TACHO, Case, compiled, corpus_truth, environment, in_terminal, load, needs_program,
                     needs_root, needs_tracefs, plain)
from perfdata import COMM, MMAP, MMAP2, SAMPLE, records_of

NAMELESS = ["-F", "-sym,-dso,-symoff"]
OTHERS = ["--show-mmap-events", "--show-task-events", "--show-lost-events", "--show-switch-events",
          "--show-namespace-events", "--show-cgroup-events", "--show-bpf-events"]
NOBODY = 0x3ffffff0


# ---- recordings, made once ----

class Recordings:
    def __init__(self):
        self.directory = None
        self.made = {}

    def get(self, name, *options):
        """The path of a recording of the load program by perf record."""
        perf = needs_program("perf")
        needs_root("to record kernel addresses")
        if self.directory is None:
            self.directory = tempfile.mkdtemp(prefix="tacho-recordings-")
            unittest.addModuleCleanup(shutil.rmtree, self.directory, True)
        if name not in self.made:
            path = os.path.join(self.directory, name)
            pipe = "--pipe" in options
            # perf 6.1 may abort when somebody loads BPF programs meanwhile, unless it is told not to look.
            argv = [perf, "record", "-q", "--no-bpf-event", "-o", "-" if pipe else path,
                    *[o for o in options if o != "--pipe"],
                    "--", *load("steps", 12, 2000, 60)]
            with open(path if pipe else os.devnull, "wb") as out:
                result = subprocess.run(argv, stdout=out, stderr=subprocess.PIPE, text=True)
            if result.returncode < 0:  # that is no answer
                raise AssertionError("perf record was ended by signal %d: %s" % (-result.returncode, result.stderr))
            self.made[name] = (path, result.returncode and (result.stderr.strip().partition("\n")[0] or "no reason"))
        path, refused = self.made[name]
        if refused:
            raise unittest.SkipTest("perf record cannot do '%s' here: %s" % (" ".join(options), refused))
        return path


recordings = Recordings()


def without_maps(path, to):
    """A copy whose mappings belong to nobody. perf 6.1 prints addresses in call chains as offsets
    into their files where it knows the file; newer ones print them as they are, as we do."""
    with open(path, "rb") as source:
        data = bytearray(source.read())
    for at, kind, _ in records_of(data):
        if kind in (MMAP, MMAP2) and struct.unpack_from("<i", data, at + 8)[0] != -1:
            struct.pack_into("<II", data, at + 8, NOBODY, NOBODY)
    with open(to, "wb") as out:
        out.write(data)
    return to


class ScriptCase(Case):
    def script(self, path, *args, status=0, **more):
        result = self.tacho("script", "-i", path, *args, **more)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stdout

    def json(self, path, *args):
        return [json.loads(line) for line in self.script(path, "--json", *args).splitlines()]

    def perf(self, path, *args):
        result = subprocess.run([needs_program("perf"), "script", "--no-inline", "-i", path, *args],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                stdin=subprocess.DEVNULL, env=environment(self.home))
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.decode("latin-1")

    def same(self, path, *args, least=1):
        ours = self.script(path, *args, text=False).decode("latin-1").split("\n")
        theirs = self.perf(path, *args).split("\n")
        self.assertGreater(len(theirs), least)
        for number, (we, they) in enumerate(zip(ours, theirs)):
            self.assertEqual(we, they, "line %d of %s" % (number + 1, " ".join(args)))
        self.assertEqual(len(ours), len(theirs))


# ---- beside perf ----

class BesidePerf(ScriptCase):
    def every_way(self, path, chains=False):
        if chains:
            self.same(without_maps(path, self.path("nomaps")), *NAMELESS)
        else:
            self.same(path, *NAMELESS)
        self.same(path, *NAMELESS, "-G")
        self.same(path, "-F", "event,period,ip", "-G")
        self.same(path, *NAMELESS, "-G", "--ns", "--reltime")
        self.same(path, *NAMELESS, "-G", "--deltatime")
        self.same(path, *NAMELESS, "-G", *OTHERS)
        self.same(path, "-F", "+misc,+pid,-sym,-dso,-symoff", "-G", *OTHERS)

    def test_one_event(self):
        path = recordings.get("one", "-e", "cpu-clock")
        self.every_way(path)
        self.same(path, *NAMELESS, *OTHERS, "--show-round-events")

    def test_call_chains(self):
        path = recordings.get("chains", "-e", "cpu-clock", "-g")
        self.every_way(path, chains=True)
        bare = without_maps(path, self.path("nomaps"))
        self.same(bare, "-F", "ip", "--max-stack", "3")
        self.same(bare, "-F", "comm,ip,time")

    def test_several_events(self):
        self.every_way(recordings.get("several", "-e", "cpu-clock,page-faults,context-switches",
                                      "-g"), chains=True)

    def test_group_is_one_line_a_member(self):
        path = recordings.get("group", "-e", "{cpu-clock,page-faults,context-switches}:S")
        self.every_way(path)
        names = collections.Counter(x.split()[0] for x in
                                    self.script(path, "-F", "event").splitlines())
        self.assertGreater(names["cpu-clock:"], 0)
        self.assertGreater(names["page-faults:"], 0)
        # What is counted goes on where nothing is shown.
        for options in (["--time", "50%/2"], ["--comms", "load"]):
            with self.subTest(options):
                self.same(path, "-F", "comm,time,event,period", *options)

    def test_tracepoints(self):
        needs_tracefs()
        path = recordings.get("trace", "-a", "-e",
                              "cpu-clock,sched:sched_switch,sched:sched_wakeup")
        self.every_way(path)
        self.assertIn("prev_comm=", self.script(path))
        self.same(path, "-F", "trace:comm,trace", "-F", "sw:ip")
        self.same(path, "-F", "comm,time,event,trace", "-C", "0")
        self.same(path, "-F", "comm,time,event,trace", "--comms", "load,swapper")
        for times in ("10%/2", "10%-30%,50%-70%", "0%-100%"):
            with self.subTest(times):
                self.same(path, "-F", "comm,time,event,trace", "--time", times)

    def test_tracepoints_with_chains(self):
        needs_tracefs()
        self.every_way(recordings.get("trace-chains", "-a", "-g", "-e", "sched:sched_switch"),
                       chains=True)

    def test_time_in_seconds(self):
        path = recordings.get("one", "-e", "cpu-clock")
        times = [x.strip(": ") for x in self.script(path, "-F", "time", "--ns").splitlines()]
        first, last = times[len(times) // 4], times[len(times) // 2]
        for text in (first + "," + last, first + ",", "," + last):
            with self.subTest(text):
                self.same(path, "-F", "time,ip", "--time", text)
        lines = self.script(path, "-F", "time", "--time", first + "," + last).splitlines()
        self.assertEqual(len(lines), len(times) // 2 - len(times) // 4 + 1)

    def test_memory(self):
        path = recordings.get("memory", "-e", "page-faults", "-c", "1", "-d", "--phys-data",
                              "--data-page-size", "--code-page-size", "-W")
        self.every_way(path)
        self.same(path, "-F",
                  "ip,addr,data_src,weight,phys_addr,data_page_size,code_page_size,misc")

    def test_registers(self):
        if os.uname().machine != "x86_64":
            self.skipTest("the registers are those of x86-64")
        path = recordings.get("registers", "-e", "cpu-clock", "--user-regs=ip,sp,ax,r15",
                              "--intr-regs=ip,sp,flags")
        self.every_way(path)
        self.same(path, "-F", "ip,iregs,uregs")

    def test_switches_namespaces_cgroups(self):
        path = recordings.get("switches", "-a", "-e", "cpu-clock", "--switch-events",
                              "--namespaces", "--all-cgroups")
        self.every_way(path)
        text = self.script(path, *OTHERS)
        for word in ("SWITCH_CPU_WIDE OUT", "NAMESPACES", "CGROUP", "COMM exec", "FORK", "MMAP2"):
            self.assertIn("PERF_RECORD_" + word, text)

    def test_time_of_day(self):
        path = recordings.get("clock", "-e", "cpu-clock", "-k", "CLOCK_MONOTONIC")
        self.same(path, "-F", "tod,ip")
        self.same(path, "-F", "tod,ip", "--ns")

    def test_compressed(self):
        self.same(recordings.get("compressed", "-e", "cpu-clock,page-faults", "-z", "-g"),
                  *NAMELESS, "-G")

    def test_pipe(self):
        path = recordings.get("pipe", "-e", "cpu-clock", "-g", "--pipe")
        self.every_way(path, chains=True)
        with open(path, "rb") as source:
            data = source.read()
        for args in (["-i", "-"], []):
            result = self.tacho("script", *args, "-G", input=data, text=False)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stdout.decode(), self.script(path, "-G"))

    def test_pipe_with_tracepoints(self):
        needs_tracefs()
        self.every_way(recordings.get("trace-pipe", "-a", "-e", "sched:sched_switch", "--pipe"))

    def test_dwarf(self):
        # Stacks are not unwound yet, so that only the lines without chains can be compared.
        self.same(recordings.get("dwarf", "-e", "cpu-clock", "--call-graph", "dwarf"), *NAMELESS,
                  "-G")


class Corpus(ScriptCase):
    """Files of many kernels and machines, each with what is known to be in it."""

    def setUp(self):
        super().setUp()
        self.truth = [t for t in corpus_truth() if t["samples"]]
        # Samples that perf makes out of a trace of the processor are not in the file.
        self.truth = [t for t in self.truth if "psb" not in t["samples"]]

    def test_samples_and_periods(self):
        for t in self.truth:
            with self.subTest(t["file"]):
                counts, periods = collections.Counter(), collections.Counter()
                result = self.tacho("script", "-i", os.path.join(CORPUS, t["file"]), "-F",
                                    "event,period,ip", "-G")
                for line in result.stdout.splitlines():
                    period, name = re.fullmatch(r" *(\d+) +(.*?): +[0-9a-f]+", line).groups()
                    counts[name] += 1
                    periods[name] += int(period)
                self.assertEqual(counts, t["samples"])
                self.assertEqual(periods, t["period"])
                self.assertEqual(result.returncode, 1 if "corrupted" in t["file"] else 0)

    def test_beside_perf(self):
        needs_program("perf")
        for t in self.truth:
            if not t["perf_6_1_reads"]:
                continue
            path = os.path.join(CORPUS, t["file"])
            with self.subTest(t["file"]):
                # Where nothing is mapped perf gives up on a copied stack; we show the innermost frame.
                if '"user_stack_bytes"' not in self.script(path, "--json"):
                    self.same(without_maps(path, self.path("nomaps")), *NAMELESS)
                self.same(path, "-F", "ip,brstack", "-G")
                # perf takes the first form of MMAP2 for the present one, and prints nonsense.
                if not t["file"].startswith("hotspot"):
                    self.same(path, "-F", "+misc,-sym,-dso,-symoff", "-G", *OTHERS)


# ---- by itself ----

class Fields(ScriptCase):
    def setUp(self):
        super().setUp()
        self.file = recordings.get("one", "-e", "cpu-clock")

    def test_order_is_fixed(self):
        self.assertEqual(self.script(self.file, "-F", "ip,comm,time"),
                         self.script(self.file, "-F", "time,ip,comm"))

    def test_names(self):
        lines = self.script(self.file).splitlines()
        # Libraries may have no names here.
        at = max(i for i, line in enumerate(lines) if "[unknown]" not in line)
        line = lines[at]
        self.assertRegex(line, r"cpu-clock: +[0-9a-f]+ \S+\+0x[0-9a-f]+ \(\S+\)$")
        self.assertEqual(self.script(self.file, "-F", "-symoff").splitlines()[at],
                         re.sub(r"\+0x[0-9a-f]+ \(", " (", line))
        self.assertEqual(self.script(self.file, "-F", "-sym,-symoff").splitlines()[at],
                         re.sub(r" \S+ (\(\S+\))$", r" \1", line))

    def test_names_beside_perf(self):
        """Addresses apart, which perf turns into offsets of files, lines are the same. perf takes a
        return address behind a function's last call for the function that follows."""
        path = recordings.get("names", "-g", "-e", "cpu-clock")
        ours = self.script(path, "--no-inline").splitlines()
        theirs = self.perf(path).splitlines()
        self.assertEqual(len(ours), len(theirs))
        for we, they in zip(ours, theirs):
            we, they = (re.sub(r"^\t *[0-9a-f]+ ", "", line).strip() for line in (we, they))
            if not re.search(r"\+0x0 \(", they):
                self.assertEqual(we, they)

    INLINED_C = r"""
#include <stdlib.h>
static volatile long sink;
static inline __attribute__((always_inline)) void inner(long n) { for (long i = 0; i < n; i++) sink += i; }
__attribute__((noinline)) void outer(long n) { inner(n); sink++; }
int main(int argc, char **argv) { for (long i = atol(argv[1]); i; i--) outer(100000); return 0; }
"""

    def test_inlined_without_chains(self):
        """A lone address is named by the function of the symbol table, whose offset and module it shows."""
        program, path = compiled("inlined", self.INLINED_C, "-g"), self.path("inlined.data")
        result = self.tacho("record", "-q", "-e", "cpu-clock:u", "-F", "2000", "-o", path, "--", program, "500")
        self.assertEqual(result.returncode, 0, result.stderr)
        text = self.script(path)
        self.assertNotIn("(inlined)", text)
        self.assertRegex(text, r" outer\+0x[0-9a-f]+ \(%s\)\n" % re.escape(program))
        # The line is that of the instruction, in the function that was inlined.
        self.assertIn("%s.c:4\n" % program, self.script(path, "-F", "+srcline"))

    def test_inlined_beside_perf(self):
        program, path = compiled("inlined", self.INLINED_C, "-g"), self.path("inlined.data")
        self.tacho("record", "-q", "-e", "cpu-clock:u", "-F", "2000", "-o", path, "--", program, "500")
        self.same(path)

    def test_changes(self):
        usual = self.script(self.file, "-F", "comm,tid,time,event,period,ip,sym,symoff,dso")
        self.assertEqual(self.script(self.file), usual)
        self.assertEqual(self.script(self.file, "-F", "-comm", "-F", "+comm"), usual)
        self.assertEqual(self.script(self.file, "-F", "sw:comm"),
                         self.script(self.file, "-F", "comm"))
        self.assertEqual(self.script(self.file, "-F", "hw:comm"), usual)

    def test_mistakes(self):
        for fields, word in (("evnt", "did you mean 'event'"), ("srccode", "not available yet"),
                             ("insn", "not available yet"), ("+ip,comm", "not both"),
                             ("foo:ip", "not a kind of event"), ("hw:trace", "no field 'trace'"),
                             ("", "no field"), ("zzzzzzzz", "--help lists them")):
            with self.subTest(fields):
                result = self.tacho("script", "-i", self.file, "-F", fields)
                self.assertEqual(result.returncode, 2)
                self.assertOneSentence(result.stderr)
                self.assertIn(word, result.stderr)
                self.assertEqual(result.stdout, "")

    def test_not_recorded(self):
        for field in ("addr", "cpu", "phys_addr", "iregs", "cgroup", "tod"):
            with self.subTest(field):
                result = self.tacho("script", "-i", self.file, "-F", "ip," + field)
                self.assertEqual(result.returncode, 1)
                self.assertOneSentence(result.stderr)
                self.assertIn("'%s'" % field, result.stderr)

    def test_wrong_usage(self):
        for args in (["--time", "x"], ["--time", "5,4"], ["--time", "5%/0"], ["--pid", "x"],
                     ["-C", "x"], ["word"], ["--comms", ","]):
            with self.subTest(args):
                result = self.tacho("script", "-i", self.file, *args)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertOneSentence(result.stderr)

    def test_filters(self):
        all_tids = set(self.script(self.file, "-F", "tid").split())
        tid = sorted(all_tids)[0]
        self.assertEqual(set(self.script(self.file, "-F", "tid", "--tid", tid).split()), {tid})
        self.assertEqual(self.script(self.file, "--tid", "4000000"), "")
        self.assertEqual(self.script(self.file, "--pid", tid), self.script(self.file))
        self.assertEqual(self.script(self.file, "--comms", "load"), self.script(self.file))
        self.assertEqual(self.script(self.file, "--comms", "other"), "")


class Forms(ScriptCase):
    def test_json(self):
        path = recordings.get("several", "-e", "cpu-clock,page-faults,context-switches", "-g")
        records = self.json(path)
        samples = [r for r in records if r["type"] == "SAMPLE"]
        lines = self.script(path, "-F", "comm,pid,tid,time,event,period,ip", "-G",
                            "--ns").splitlines()
        self.assertEqual(len(samples), len(lines))
        for r, line in zip(samples, lines):
            self.assertEqual(line.split(), [
                r["comm"], "%d/%d" % (r["pid"], r["tid"]),
                "%d.%09d:" % divmod(r["time_ns"], 10**9), str(r["period"]), r["event"] + ":",
                r["ip"][2:]])
        self.assertTrue(any(f["context"] == "kernel" for r in samples for f in r["callchain"]))
        self.assertLessEqual({"COMM", "MMAP2", "SAMPLE", "EXIT"}, {r["type"] for r in records})
        self.assertIn("load", [r.get("new_comm") for r in records])

    def test_json_of_tracepoints(self):
        needs_tracefs()
        path = recordings.get("trace", "-a", "-e",
                              "cpu-clock,sched:sched_switch,sched:sched_wakeup")
        switches = [r for r in self.json(path) if r["event"] == "sched:sched_switch"
                    and r["type"] == "SAMPLE"]
        self.assertTrue(switches)
        for r in switches:
            # Of a task that is about to vanish the kernel gives no number any more.
            self.assertIn(r["tid"], (r["fields"]["prev_pid"], -1))
            self.assertIn("prev_comm=%s " % r["fields"]["prev_comm"], r["trace"])

    def test_json_of_groups(self):
        path = recordings.get("group", "-e", "{cpu-clock,page-faults,context-switches}:S")
        reads = [r["read"] for r in self.json(path) if r["type"] == "SAMPLE"]
        self.assertEqual([v["event"] for v in reads[0]],
                         ["cpu-clock", "page-faults", "context-switches"])

    def test_dump(self):
        path = recordings.get("chains", "-e", "cpu-clock", "-g")
        text = self.script(path, "-D")
        with open(path, "rb") as source:
            data = source.read()
        titles = set(re.findall(r"^(0x[0-9a-f]+) \[(\d+)\] ", text, re.M))
        self.assertEqual(titles, {(hex(at), str(size)) for at, _, size in records_of(data)})
        self.assertIn("callchain: ", text)

    def test_header(self):
        path = recordings.get("one", "-e", "cpu-clock")
        text = self.script(path, "--header-only")
        self.assertTrue(all(line.startswith("#") for line in text.splitlines()))
        for line in self.perf(path, "--header-only").splitlines():
            if re.match("# (captured|header v|data|host|os|arch|nrcpus|cpu|total|cmdline|pmu|time"
                        "|sample d)", line):
                self.assertIn(line + "\n", text)
        self.assertEqual(self.script(path, "--header"), text + self.script(path))
        pipe = recordings.get("pipe", "-e", "cpu-clock", "-g", "--pipe")
        self.assertIn("# hostname : ", self.script(pipe, "--header-only"))
        self.assertTrue(self.script(pipe, "--header").startswith("# ====="))

    def test_reader_that_goes_away(self):
        path = recordings.get("memory", "-e", "page-faults", "-c", "1", "-d", "--phys-data",
                              "--data-page-size", "--code-page-size", "-W")
        child = self.start([TACHO, "script", "-i", path, "-D"], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
        child.stdout.read(10)
        child.stdout.close()
        self.assertEqual(child.wait(LIMIT_S), -signal.SIGPIPE)
        self.assertEqual(child.stderr.read(), "")

    def test_full_disk(self):
        path = recordings.get("one", "-e", "cpu-clock")
        with open("/dev/full", "w") as full:
            result = self.tacho("script", "-i", path, stdout=full)
        self.assertEqual(result.returncode, 1)
        self.assertOneSentence(result.stderr)

    def test_terminal(self):
        path = recordings.get("one", "-e", "cpu-clock")
        shown = self.write("pager", "#!/bin/sh\nexec cat > %s\n" % self.path("shown"))
        os.chmod(shown, 0o755)
        for pager in ("cat", shown):
            status, output = in_terminal([TACHO, "script", "-i", path],
                                         environment(self.home, {"PAGER": pager}))
            self.assertEqual(status, 0)
            if pager != "cat":
                with open(self.path("shown"), "rb") as text:
                    output = text.read()
            self.assertEqual(plain(output), self.script(path))


class Damage(ScriptCase):
    def setUp(self):
        super().setUp()
        path = recordings.get("chains", "-e", "cpu-clock", "-g")
        self.whole = self.script(path)
        with open(path, "rb") as source:
            self.data = bytearray(source.read())

    def changed(self, data):
        return self.write("changed", bytes(data))

    def test_cut(self):
        cut = len(self.data) // 2
        result = self.tacho("script", "-i", self.changed(self.data[:cut]))
        self.assertEqual(result.returncode, 1)
        self.assertOneSentence(result.stderr)
        self.assertRegex(result.stderr, r"^tacho: script: .*changed: at offset \d+: ")
        # What is there is printed; the end of one ring may be missing before that of another.
        self.assertGreater(len(result.stdout), 1000)
        self.assertLess(set(result.stdout.split("\n\n")[:-1]), set(self.whole.split("\n\n")))

    def test_chain_that_lies(self):
        samples = [at for at, kind, _ in records_of(self.data) if kind == SAMPLE]
        at = samples[len(samples) // 2]
        # ip, pid and tid, time, period, then the length of the chain
        struct.pack_into("<Q", self.data, at + 8 + 32, 1 << 60)
        result = self.tacho("script", "-i", self.changed(self.data))
        self.assertEqual(result.returncode, 1)
        self.assertIn("at offset %d: the call chain reaches beyond the sample" % at, result.stderr)
        self.assertEqual(result.stdout.count("cpu-clock:"), len(samples) - 1)

    def test_names_that_drive_terminals(self):
        for at, kind, _ in records_of(self.data):
            if kind == COMM:
                self.data[at + 16:at + 21] = b"\x1b[2J\n"
        result = self.tacho("script", "-i", self.changed(self.data), "--show-task-events",
                            text=False)
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"?[2J?", result.stdout)
        self.assertNotIn(b"\x1b", result.stdout)

    def test_no_recording(self):
        for text in (b"", b"PERFILE2", b"x" * 1000, self.data[:100]):
            result = self.tacho("script", "-i", self.changed(text))
            self.assertEqual(result.returncode, 1)
            self.assertOneSentence(result.stderr)
        result = self.tacho("script", cwd=self.home)
        self.assertEqual(result.returncode, 1)
        self.assertIn("'perf.data'", result.stderr)


if __name__ == "__main__":
    unittest.main()

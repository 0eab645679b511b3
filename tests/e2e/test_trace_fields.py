"""Fields of tracepoints as sort keys, weights and columns: beside perf, and beside tacho script --json."""

import collections
import json
import os
import re
import shlex
import subprocess
import unittest

from helpers import (TACHO, Case, environment, eventually, needs_program, needs_root, needs_tracefs)

SIDE_BY_SIDE = True

EVENTS = ("sched:sched_switch", "sched:sched_process_exec", "syscalls:sys_enter_openat", "kmem:kmalloc")
WORK = "for i in 1 2 3 4 5 6 7 8; do ls / >/dev/null; cat /etc/passwd | wc -l; sleep 0.01; done"


class TraceFields(Case):
    def record(self, *options, events=EVENTS, name="x.data", work=WORK):
        needs_tracefs()
        needs_root("to sample tracepoints of the kernel")
        path = self.path(name)
        result = subprocess.run([needs_program("perf"), "record", "--no-bpf-event", "-N", "-q", "-c", "1",
                                 *[word for event in events for word in ("-e", event)], *options, "-o", path,
                                 "--", "sh", "-c", work],
                                env=environment(self.home), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                text=True)
        if result.returncode:
            raise unittest.SkipTest("perf cannot record these tracepoints here: " + result.stderr.strip())
        return path

    def samples(self, path):
        result = self.tacho("script", "-i", path, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        records = [json.loads(line) for line in result.stdout.splitlines()]
        samples = [record for record in records if record["type"] == "SAMPLE"]
        self.assertTrue(samples)
        return samples

    def report(self, path, *options):
        result = self.tacho("report", "-i", path, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def cells(self, text):
        """Event -> cells of a row -> samples, of the output with -n -t '^'."""
        found, event = {}, None
        for line in text.splitlines():
            if line.startswith("# Samples"):
                event = line.split("'")[1]
            elif line and not line.startswith("#"):
                words = [word.strip() for word in line.split("^")]
                rows = found.setdefault(event, collections.Counter())
                rows[tuple(words[2:])] += int(words[1])
        return found

    def same_as_perf(self, path, keys, *options, events=None):
        text = subprocess.run([needs_program("perf"), "report", "--stdio", "-i", path, "--no-children", "-n",
                               "-t", "^", "--sort", keys, *options],
                              env=environment(self.home), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              stdin=subprocess.DEVNULL, text=True, check=True).stdout
        ours = self.cells(self.report(path, "--no-children", "-n", "-t", "^", "--sort", keys, *options))
        theirs = self.cells(text)
        self.assertTrue(theirs)
        for event in events or theirs:
            # perf leaves out columns of fields that the event has not, and ends printed values at a blank.
            rows = collections.Counter()
            for row, samples in ours[event].items():
                rows[tuple(cell if "--raw-trace" in options or keys == "trace" else cell.split(" ")[0]
                           for cell in row if cell)] += samples
            self.assertEqual(rows, collections.Counter(
                {tuple(cell for cell in row if cell): n for row, n in theirs[event].items()}), event)
        return ours

    def test_report_sorts_by_fields_as_perf_does(self):
        path = self.record()
        for keys, events in (("prev_comm,next_comm", ["sched:sched_switch"]),
                             ("prev_state,next_prio", ["sched:sched_switch"]),
                             ("sched:sched_switch.next_pid", ["sched:sched_switch"]),
                             ("comm,filename", ["sched:sched_process_exec"]),
                             ("bytes_req,call_site,gfp_flags", ["kmem:kmalloc"]),
                             ("trace", EVENTS)):
            with self.subTest(keys=keys):
                self.same_as_perf(path, keys, events=events)
        for keys, events in (("dfd,flags,mode,filename", ["syscalls:sys_enter_openat"]),
                             ("prev_comm,prev_state", ["sched:sched_switch"]),
                             ("call_site,ptr,gfp_flags", ["kmem:kmalloc"])):
            with self.subTest(raw=keys):
                self.same_as_perf(path, keys, "--raw-trace", events=events)

    def test_all_fields_are_columns_of_their_events(self):
        path = self.record()
        text = self.report(path, "-q", "--sort", "trace_fields", "-t", "^")
        titles = [line[2:].split("^") for line in text.splitlines() if line.startswith("# ")]
        self.assertEqual(len(titles), len(EVENTS))
        fields = {sample["event"]: list(sample["fields"]) for sample in self.samples(path)}
        self.assertEqual([line[1:] for line in titles], [fields[event] for event in EVENTS])

    def test_rows_have_the_samples_of_the_script(self):
        path = self.record()
        samples = self.samples(path)
        report = json.loads(self.report(path, "--json", "--no-children", "--sort", "next_comm,next_pid,bytes_req"))
        for section in report["sections"]:
            wanted = collections.Counter(
                tuple(sample["fields"].get(name) for name in ("next_comm", "next_pid", "bytes_req"))
                for sample in samples if sample["event"] == section["event"])
            got = collections.Counter({tuple(entry["fields"].values()): entry["self_samples"]
                                       for entry in section["entries"]})
            self.assertEqual(got, wanted)
        self.assertEqual(sum(section["samples"] for section in report["sections"]), len(samples))

    def test_json_has_values_and_what_is_printed_for_them(self):
        path = self.record(events=["kmem:kmalloc"])
        entries = json.loads(self.report(path, "--json", "--sort", "gfp_flags,call_site,trace"))["sections"][0]["entries"]
        for entry in entries:
            self.assertIsInstance(entry["fields"]["gfp_flags"], int)
            self.assertIn("gfp_flags=" + entry["printed"].get("gfp_flags", str(entry["fields"]["gfp_flags"])),
                          entry["fields"]["trace"])

    def test_sum_weighs_samples_by_a_field(self):
        path = self.record("-g")
        kmalloc = [sample for sample in self.samples(path) if sample["event"] == "kmem:kmalloc"]
        by_comm = collections.Counter()
        for sample in kmalloc:
            by_comm[sample["comm"]] += sample["fields"]["bytes_req"]
        result = self.tacho("report", "-i", path, "--json", "--no-children", "-g", "none", "--sum", "bytes_req",
                            "--sort", "comm")
        self.assertEqual(result.returncode, 0, result.stderr)
        section, = json.loads(result.stdout)["sections"]
        self.assertEqual(section["weight"], sum(by_comm.values()))
        self.assertEqual(section["samples"], len(kmalloc))
        self.assertEqual({entry["comm"]: entry["self"] for entry in section["entries"]}, dict(by_comm))
        others = len(self.samples(path)) - len(kmalloc)
        self.assertRegex(result.stderr, r"%s samples? \(.*\) (is|are) left out" % format(others, ","))
        flame = self.tacho("flame", "-i", path, "--sum", "kmem:kmalloc.bytes_req", "--format", "json")
        self.assertEqual(json.loads(flame.stdout)["value"], sum(by_comm.values()), flame.stderr)

    def test_several_workers_make_the_rows_of_one(self):
        # More than one chunk of 1 MiB, so that there are several workers, each with keys of its own.
        path = self.record(events=["syscalls:sys_enter_read", "syscalls:sys_exit_read"],
                           work="dd if=/dev/zero of=/dev/null bs=7 count=30000; cat /etc/passwd")
        self.assertGreater(os.stat(path).st_size, 3 << 20)
        samples = self.samples(path)
        report = json.loads(self.report(path, "--json", "--no-children", "--sort", "count,ret", "--sum", "*.ret"))
        wanted = collections.Counter()
        for sample in samples:
            if "ret" in sample["fields"]:
                wanted[(None, sample["fields"]["ret"])] += sample["fields"]["ret"]
        section, = report["sections"]
        self.assertEqual({tuple(entry["fields"].values()): entry["self"] for entry in section["entries"]}, dict(wanted))
        report = json.loads(self.report(path, "--json", "--no-children", "--sort", "comm,sys_enter_read.count"))
        self.assertEqual({(entry["comm"], *entry["fields"].values()): entry["self_samples"]
                          for entry in report["sections"][0]["entries"]},
                         collections.Counter((sample["comm"], sample["fields"]["count"]) for sample in samples
                                             if "count" in sample["fields"]))

    def test_negative_values_count_as_zero(self):
        path = self.record(events=["syscalls:sys_exit_openat"], work="cat /etc/passwd /nonexistent; true")
        values = [sample["fields"]["ret"] for sample in self.samples(path)]
        negative = sum(value < 0 for value in values)
        self.assertTrue(negative)
        result = self.tacho("report", "-i", path, "--json", "--sum", "ret")
        section, = json.loads(result.stdout)["sections"]
        self.assertEqual(section["weight"], sum(value for value in values if value > 0))
        self.assertRegex(result.stderr, r"%d samples? \(.*\) counts? as 0" % negative)

    def test_pipes_and_compressed_files_have_the_same_rows(self):
        path = self.record(events=["sched:sched_switch", "kmem:kmalloc"])
        keys = ("--json", "--sort", "next_comm,prev_state", "--no-children")

        def rows(text):
            return [(section["event"], sorted((json.dumps(entry["fields"]), entry["self"])
                                              for entry in section["entries"]))
                    for section in json.loads(text)["sections"]]
        plain = rows(self.report(path, *keys))
        self.assertEqual(sum(own for event, entries in plain for fields, own in entries), len(self.samples(path)))
        piped = self.tacho("convert", "-i", path, "--to", "perfdata", "-o", "-", text=False)
        self.assertEqual(piped.returncode, 0, piped.stderr)
        result = self.tacho("report", "-i", "-", *keys, input=piped.stdout, text=False)
        self.assertEqual(rows(result.stdout), plain)
        result = self.tacho("report", "-i", "-", "--sort", "next_com", input=piped.stdout, text=False)
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"'next_comm'", result.stderr)
        small = self.path("z.data")
        converted = self.tacho("convert", "-i", path, "--to", "perfdata", "-z", "3", "-o", small)
        self.assertEqual(converted.returncode, 0, converted.stderr)
        self.assertEqual(rows(self.report(small, *keys)), plain)

    def test_script_prints_named_fields_in_the_place_of_the_text(self):
        path = self.record(events=["sched:sched_switch", "kmem:kmalloc"])
        samples = self.samples(path)
        result = self.tacho("script", "-i", path, "-F", "event,prev_pid,next_comm,bytes_req,gfp_flags")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [line.strip() for line in result.stdout.splitlines()]
        self.assertEqual(len(lines), len(samples))
        for line, sample in zip(lines, samples):
            fields = sample["fields"]
            if "prev_pid" in fields:
                named = "prev_pid=%d next_comm=%s" % (fields["prev_pid"], fields["next_comm"])
            else:
                named = re.search(r"(bytes_req=\S+) .*(gfp_flags=\S+)", sample["trace"]).expand(r"\1 \2")
            self.assertEqual(line, "%s: %s" % (sample["event"], named))

    def test_script_tells_fields_of_a_tracepoint_from_those_of_perf(self):
        path = self.record(events=["sched:sched_process_exec", "sched:sched_switch"])
        execs = [sample for sample in self.samples(path) if sample["event"] == "sched:sched_process_exec"]
        for name in ("sched:sched_process_exec.pid", "sched_process_exec.pid", "*.pid"):
            result = self.tacho("script", "-i", path, "-F", "event," + name)
            lines = [line.strip() for line in result.stdout.splitlines() if "exec" in line]
            self.assertEqual(lines, ["sched:sched_process_exec: pid=%d" % sample["fields"]["pid"]
                                     for sample in execs])
        whole = self.tacho("script", "-i", path, "-F", "trace,next_prio")
        self.assertIn("next_prio=120 next_prio=120", whole.stdout)
        records = self.tacho("script", "-i", path, "--json", "-F", "next_prio,filename").stdout.splitlines()
        found = {tuple(record["fields"]) for record in map(json.loads, records) if record["type"] == "SAMPLE"}
        self.assertEqual(found, {("next_prio",), ("filename",)})
        result = self.tacho("script", "-i", path, "-F", "comm,next_pit")
        self.assertEqual(result.returncode, 2)
        self.assertOneSentence(result.stderr)
        self.assertIn("'next_pid'", result.stderr)

    def test_browser_has_the_columns_of_the_shown_event(self):
        path = self.record(events=["sched:sched_switch", "kmem:kmalloc"])
        tmux = [needs_program("tmux"), "-L", "tacho-fields-%d" % os.getpid(), "-f", "/dev/null"]
        self.addCleanup(subprocess.run, [*tmux, "kill-server"], stderr=subprocess.DEVNULL)

        def run(*args):
            return subprocess.run([*tmux, *args], env=environment(self.home), text=True, stdout=subprocess.PIPE,
                                  check=True).stdout

        def sees(title, other):
            shown = eventually(lambda: title in run("capture-pane", "-p") and other not in run("capture-pane", "-p"))
            self.assertTrue(shown, run("capture-pane", "-p"))
        run("new-session", "-d", "-x", "150", "-y", "20",
            "%s report --tui -i %s --sort trace_fields" % (shlex.quote(TACHO), shlex.quote(path)))
        sees("prev_comm", "gfp_flags")
        run("send-keys", "Tab")
        sees("gfp_flags", "prev_comm")

    def test_unknown_names_are_told_with_the_nearest(self):
        path = self.record(events=["sched:sched_switch"])
        for options, told in ((("--sort", "next_com"), "'next_comm'"),
                              (("--sort", "sched:sched_switch.next_pit"), "'sched:sched_switch.next_pid'"),
                              (("-F", "overhead,coom"), "'comm'"),
                              (("--sort", "bytes_req"), "'bytes_req' is not among"),
                              (("--sum", "next_pit"), "'next_pid'"),
                              (("--sum", "next_comm"), "is text")):
            with self.subTest(options=options):
                result = self.tacho("report", "-i", path, *options)
                self.assertIn(result.returncode, (1, 2))
                self.assertOneSentence(result.stderr)
                self.assertIn(told, result.stderr)
        folded = self.write("x.folded", "a;b 3\n")
        for options in (("--sort", "next_comm"), ("--sum", "next_comm")):
            result = self.tacho("report", "-i", folded, *options)
            self.assertIn("no tracepoints", result.stderr)
            self.assertTrue(result.returncode)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""tacho list: what there is, on this machine and on others, and why not."""

import glob
import json
import os
import re
import subprocess
import tempfile
import unittest

from helpers import (LIMIT_S, TACHO, TRACEFS, TREES, Case, compiled, environment,
                     in_terminal, needs_namespace, needs_no_pmu, needs_tracefs, plain,
                     unpack)
from probes import user_probe

GROUPS = ["hw", "sw", "cache", "pmu", "tracepoint", "sdt", "probe", "raw"]


class List(Case):
    def text(self, *args, status=0, **more):
        result = self.tacho("list", *args, **more)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stdout

    def events(self, *args, **more):
        result = self.tacho("list", *args, "--json", text=False, **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout.decode("utf-8"))

    def names(self, *args, **more):
        return [e["name"] for e in self.events(*args, **more)]

    def opened(self, *args):
        """How often it tries to open an event."""
        return self.count("syscalls:sys_enter_perf_event_open", TACHO, "list", *args, stdout=subprocess.DEVNULL)


class Here(List):
    def test_json(self):
        events = self.events()
        self.assertGreater(len(events), 50)
        for e in events:
            self.assertIn(e["group"], GROUPS)
            self.assertTrue(e["name"])
            self.assertIn("description", e)
            self.assertIn(e["available"], (True, False, None))
            self.assertEqual(e["available"] is False, "reason" in e, e)
            self.assertTrue(e.get("reason", "x"))

    def test_groups(self):
        whole = self.events()
        for group in GROUPS:
            expected = [e["name"] for e in whole if e["group"] == group]
            for args in ([group], ["--group", group], ["-g", group]):
                with self.subTest(args):
                    if expected:
                        self.assertEqual(self.names(*args), expected)
                    else:
                        self.text(*args, status=1)
        self.assertIn("task-clock", self.names("sw"))
        self.assertIn("cycles" if not glob.glob("/sys/devices/cpu_core") else "cpu_core/cycles/",
                      self.names("hw"))
        self.assertIn("L1-dcache-load-misses", " ".join(self.names("cache")))

    def test_options_before_and_behind(self):
        self.assertEqual(self.names("sw"), [e["name"] for e in json.loads(self.text("--json", "sw"))])

    def test_unknown_group(self):
        result = self.tacho("list", "--group", "nonsense")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertOneSentence(result.stderr)
        for group in GROUPS:
            self.assertIn(group, result.stderr)

    def test_names(self):
        needs_tracefs()
        names = self.names("sched:*")
        self.assertIn("sched:sched_switch", names)
        self.assertTrue(all(n.startswith("sched:") for n in names))
        there = {d for d in os.listdir(TRACEFS + "/events/sched")
                 if os.path.isdir("%s/events/sched/%s" % (TRACEFS, d))}
        self.assertEqual({n.split(":")[1] for n in names}, there)
        self.assertEqual(self.names("sched:sched_swit?h"), ["sched:sched_switch"])
        self.assertIn("sched:sched_switch", self.names("sched_switch"))

    def test_alias(self):
        self.assertEqual(self.names("sw", "-s", "switches")[0], "context-switches")
        self.assertIn("context-switches", self.names("cs"))

    def test_several_words(self):
        result = self.tacho("list", "hw", "sw")
        self.assertEqual(result.returncode, 2)
        self.assertOneSentence(result.stderr)

    def test_nothing_found(self):
        result = self.tacho("list", "--group", "sw", "no-such-event-at-all")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertOneSentence(result.stderr)
        self.assertEqual(json.loads(self.text("no-such-event-at-all", "--json", status=1)), [])

    def test_search(self):
        found = self.events("--search", "LLC", "--uarch", "all")
        in_name = [e for e in found if "llc" in e["name"].lower()]
        in_text = [e for e in found if e not in in_name]
        self.assertGreater(len(in_name), 10)
        self.assertGreater(len(in_text), 10)
        for e in found:
            self.assertIn("llc", json.dumps(e).lower())
        self.assertEqual(len(self.events("--search", "llc", "--uarch", "all")), len(found))
        self.assertIn("LLC-loads", " ".join(self.names("--search", "last level")))

    def test_availability(self):
        by_name = {e["name"]: e for e in self.events()}
        self.assertIs(by_name["task-clock"]["available"], True)
        needs_no_pmu()
        self.assertIs(by_name["cycles"]["available"], False)
        self.assertRegex(by_name["cycles"]["reason"], r"^this (virtual )?machine has no PMU")
        self.assertRegex(self.text("hw"), r"^Hardware events . this (virtual )?machine has no PMU .*\n")

    def test_availability_is_the_truth(self):
        # What list says can be counted stat counts, and the other way round.
        some = [e for e in self.events() if e["group"] in ("hw", "sw") and not e["name"].endswith("_time")]
        rows = self.rows("-e", ",".join(e["name"] for e in some), "true")
        self.assertEqual([(r[2].replace(":u", ""), r[0][0] != "<") for r in rows],
                         [(e["name"], e["available"]) for e in some])

    def test_reason_without_permission(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to become somebody else")
        from helpers import AS_NOBODY, needs_other_user, paranoid
        needs_other_user()
        if paranoid() != 2:
            self.skipTest("needs perf_event_paranoid 2")
        events = {e["name"]: e for e in self.events("sw", before=AS_NOBODY)}
        self.assertIs(events["context-switches"]["available"], False)
        self.assertIn("perf_event_paranoid", events["context-switches"]["reason"])

    def test_only_what_is_shown_is_opened(self):
        needs_tracefs()
        # Only what is shown is opened: one of two ways for each event, and a few to find out what is allowed.
        opened = self.opened("sched:*")
        self.assertLess(opened, 3 * len(self.names("sched:*")) + 50)

    def test_names_only(self):
        names = self.text("--names").split("\n")
        self.assertEqual(names.pop(), "")
        self.assertEqual(names, self.names())
        self.assertFalse([n for n in names if not n.strip()])

    def test_no_tracefs(self):
        needs_namespace()
        if not os.path.ismount(TRACEFS):
            self.skipTest("tracefs is not mounted on " + TRACEFS)
        script = "while umount %s 2>/dev/null; do :; done; umount /sys/kernel/debug 2>/dev/null\n" \
            'for a in tracepoint "sched:*" "" sw; do "$0" list $a 2>&1; echo "= $?"; done' % TRACEFS
        result = subprocess.run(["unshare", "-m", "sh", "-fc", script, TACHO], text=True, timeout=LIMIT_S,
                                env=environment(self.home), stdout=subprocess.PIPE)
        parts = re.split(r"(?m)^= (\d+)\n", result.stdout)
        self.assertEqual(parts[1::2], ["1", "1", "0", "0"], result.stdout)
        for text in parts[0], parts[2], parts[4]:
            self.assertEqual(text.count("tracefs is not mounted"), 1, text)
            self.assertIn("tacho doctor --fix", text)
            self.assertIn("mount -t tracefs", text)
        self.assertNotIn("tracefs", parts[6])

    def test_markers(self):
        if not glob.glob("/usr/include/**/sys/sdt.h", recursive=True):
            self.skipTest("needs <sys/sdt.h>, Debian's systemtap-sdt-dev")
        program = compiled("markers", "#include <sys/sdt.h>\nint main(int c,char**v){"
                           "DTRACE_PROBE(shop,open);DTRACE_PROBE2(shop,sale,c,v);return 0;}")
        events = self.events("sdt", "--binary", program)
        self.assertEqual([e["name"] for e in events], ["sdt_shop:open", "sdt_shop:sale"])
        self.assertTrue(all(program in e["description"] for e in events))
        self.assertIn("sdt_shop:sale", self.text("--binary", program))
        self.assertIn("sdt_shop:open", self.names("--binary", program, "sdt_shop:*"))

    def test_bad_binaries(self):
        for path in (self.write("text", "hello"), self.path("missing"), self.home,
                     self.write("short", b"\x7fELF\x02\x01\x01"), self.write("empty", b"")):
            with self.subTest(path):
                result = self.tacho("list", "sdt", "--binary", path)
                self.assertEqual((result.returncode, result.stdout), (1, ""))
                self.assertOneSentence(result.stderr)
                self.assertIn(path, result.stderr)

    def test_probes(self):
        program = compiled("probed", "__attribute__((noinline)) void here(void){__asm__ volatile(\"\");}\n"
                           "int main(void){for(int i=0;i<42;i++)here();return 0;}", "-no-pie")
        full = user_probe(self, program, "here")
        event = [e for e in self.events("probe") if e["name"] == full][0]
        self.assertEqual((event["group"], event["available"]), ("probe", True))
        self.assertNotIn(full, self.names("tracepoint"))
        self.assertEqual(self.count(full, program), 42)

    def test_most_used_first(self):
        self.assertNotIn("Most used", self.text())
        for _ in range(3):
            self.stat("-e", "minor-faults", "true")
        self.stat("-e", "page-faults", "true")
        text = self.text()
        self.assertTrue(text.startswith("Most used\n"), text[:60])
        self.assertEqual([line.split()[0] for line in text.splitlines()[1:3]],
                         ["minor-faults", "page-faults"])
        events = {e["name"]: e for e in self.events("sw")}
        self.assertEqual((events["minor-faults"]["uses"], events["page-faults"]["uses"]), (3, 1))

    def test_pipe_has_no_colours(self):
        self.assertNotIn("\x1b", self.text())

    def test_terminal(self):
        status, output = in_terminal([TACHO, "list", "sw"], environment(self.home, {"PAGER": "cat"}))
        self.assertEqual(status, 0)
        self.assertIn(b"\x1b[", output)
        self.assertIn("Software events", plain(output))

    def test_pages_on_a_terminal(self):
        pager = self.write("pager", "#!/bin/sh\necho PAGED\ncat >/dev/null\n")
        os.chmod(pager, 0o755)
        _, output = in_terminal([TACHO, "list", "--uarch", "all"],
                                environment(self.home, {"PAGER": pager}))
        self.assertIn("PAGED", plain(output))


class Uarch(List):
    def test_all(self):
        events = self.events("--uarch", "all")
        self.assertGreaterEqual(len(events), 18000)
        described = [e for e in events if e["description"].strip()]
        self.assertGreaterEqual(len(described), 18000)
        self.assertGreater(len({e["uarch"] for e in events}), 100)
        self.assertTrue(all(e["available"] is None for e in events))
        self.assertTrue(all(re.fullmatch("0x[0-9a-f]{2,16}", e["code"]) for e in events))

    def test_nothing_is_opened_for_other_cpus(self):
        needs_tracefs()
        self.assertLess(self.opened("--uarch", "all", "--json"), 50)

    def test_one(self):
        zen = self.events("--uarch", "zen4")
        self.assertIn("RETIRED_INSTRUCTIONS", [e["name"] for e in zen])
        self.assertEqual({e["uarch"] for e in zen if "zen4" not in e["uarch"]}, set())
        icx = {e["name"]: e for e in self.events("--uarch", "icelakex") if e["uarch"] == "icx"}
        self.assertEqual(icx["INSTRUCTION_RETIRED"]["code"], "0xc0")
        self.assertTrue(icx["INSTRUCTION_RETIRED"]["description"])
        by_own_name = self.events("--uarch", "icx")
        self.assertTrue(set(icx) <= {e["name"] for e in by_own_name})

    def test_masks(self):
        skl = {e["name"]: e for e in self.events("--uarch", "skl")}
        masks = {m["name"]: m for m in skl["UOPS_ISSUED"]["umasks"]}
        self.assertEqual(masks["ANY"]["code"], "0x01")
        self.assertTrue(masks["ANY"]["description"])
        self.assertRegex(self.text("--uarch", "skl", "UOPS_ISSUED"), r"(?m)^ +:ANY +0x01")

    def test_search_in_masks(self):
        self.assertIn("UOPS_ISSUED", self.names("--uarch", "skl", "--search", "FLAGS_MERGE"))

    def test_help(self):
        text = self.text("--uarch", "help")
        names = re.findall(r"(?m)^  (\S+) +\S", text)
        self.assertGreater(len(names), 20)
        self.assertEqual(len(names), len(text.splitlines()))
        self.assertEqual(self.tacho("list", "--uarch", names[0]).returncode, 0)

    def test_unknown(self):
        result = self.tacho("list", "--uarch", "no-such-cpu")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertOneSentence(result.stderr)
        self.assertIn("--uarch help", result.stderr)


class Trees(List):
    """Other machines, from copies of their files."""

    def tree(self, name):
        return unpack(name, tempfile.mkdtemp(dir=self.home))

    def test_every_tree(self):
        trees = sorted(os.path.basename(p)[:-5] for p in glob.glob(TREES + "/*.tree"))
        self.assertGreaterEqual(len(trees), 6)
        for name in trees:
            with self.subTest(name):
                env = self.tree(name)
                events = self.events(env=env)
                self.assertGreater(len(events), 20)
                self.assertEqual({e["available"] for e in events}, {None})
                self.assertNotIn("libpfm4", {e["source"] for e in events},
                                 "events of the CPU that this test runs on")
                text = self.tacho("list", env=env, text=False)
                self.assertEqual(text.returncode, 0)
                self.assertNotIn(b"\x1b", text.stdout)
                text.stdout.decode("utf-8")
                for group in GROUPS:
                    self.assertIn(self.tacho("list", group, env=env, text=False).returncode, (0, 1))

    def test_hybrid(self):
        names = self.names(env=self.tree("hybrid-intel"))
        for pmu in ("cpu_core", "cpu_atom"):
            for event in ("cycles", "instructions"):
                self.assertIn("%s/%s/" % (pmu, event), names)
        self.assertNotIn("cycles", names)
        self.assertIn("cpu_core/L1-dcache-loads/", names)

    def test_big_little(self):
        names = self.names(env=self.tree("arm64-big-little"))
        for pmu in ("armv8_cortex_a53", "armv8_cortex_a72"):
            self.assertIn("%s/cycles/" % pmu, names)

    def test_no_pmu(self):
        events = self.events(env=self.tree("vm-no-pmu"))
        self.assertNotIn("pmu", {e["group"] for e in events if e.get("pmu") == "cpu"})

    def test_units(self):
        events = {e["name"]: e for e in self.events("pmu", env=self.tree("amd-zen4"))}
        energy = [e for n, e in events.items() if n.startswith("power/energy")]
        self.assertTrue(energy)
        self.assertEqual(energy[0]["unit"], "Joules")
        self.assertAlmostEqual(energy[0]["scale"], 2.3283064365386962890625e-10)

    def test_nothing_there(self):
        empty = {"TACHO_SYSFS": self.path("none/sys"), "TACHO_PROCFS": self.path("none/proc")}
        self.assertIn("task-clock", self.names("sw", env=empty))


if __name__ == "__main__":
    unittest.main()

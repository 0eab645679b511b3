#!/usr/bin/env python3
"""tacho events: vendors' event files are loaded, listed, and win over libpfm4."""

import glob
import json
import os
import re
import unittest

from helpers import TOP, AS_NOBODY, Case, needs_other_user

SIDE_BY_SIDE = True

EMAPS = os.path.join(TOP, os.pardir, "shared", "emaps")

SMALL = [{"EventCode": "0xC0", "UMask": "0x01", "EventName": "TEST.ONE", "BriefDescription": "first"},
         {"EventCode": "0xB7,0xBB", "UMask": "0x02", "EventName": "TEST.TWO", "BriefDescription": "second",
          "PublicDescription": "The second, at length."}]


class Events(Case):
    def events(self, *args, status=0, **more):
        result = self.tacho("events", *args, **more)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def loaded(self):
        return [line.split()[0] for line in self.events().stdout.splitlines() if re.search(r"\d events ", line)]

    def listed(self, *args, **more):
        result = self.tacho("list", "--json", *args, **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def fails(self, *args, status=1):
        result = self.tacho("events", *args)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertOneSentence(result.stderr)
        return result.stderr


class Load(Events):
    def test_load_list_remove(self):
        self.assertIn("No event files", self.events().stdout)
        path = self.write("mine.json", json.dumps(SMALL))
        result = self.events("load", "--uarch", "mychip", "--cpu", "GenuineIntel-6-FE", path)
        self.assertRegex(result.stdout, r"^mychip +2 events +0 metrics")
        self.assertEqual(self.loaded(), ["mychip"])
        self.assertEqual(self.events("list").stdout, self.events().stdout)
        events = {e["name"]: e for e in self.listed("--uarch", "mychip")}
        self.assertEqual(sorted(events), ["TEST.ONE", "TEST.TWO"])
        one, two = events["TEST.ONE"], events["TEST.TWO"]
        self.assertEqual((one["code"], one["umask"], one["description"], one["source"]),
                         ("0xc0", "0x01", "first", "file"))
        self.assertEqual((two["code"], two["umask"]), ("0xb7", "0x02"))
        self.assertEqual(two["details"], "The second, at length.")
        self.events("remove", "mychip")
        self.assertEqual(self.loaded(), [])
        self.assertEqual(self.tacho("list", "--uarch", "mychip").returncode, 1)

    def test_options_before_the_word(self):
        path = self.write("mine.json", json.dumps(SMALL))
        self.events("--uarch", "other", "load", path)
        self.assertEqual(self.loaded(), ["other"])

    def test_again_replaces(self):
        path = self.write("mine.json", json.dumps(SMALL))
        self.events("load", "--uarch", "mychip", path)
        changed = [dict(SMALL[0], BriefDescription="changed")]
        self.events("load", "--uarch", "mychip", self.write("more.json", json.dumps(changed)))
        events = {e["name"]: e["description"] for e in self.listed("--uarch", "mychip")}
        self.assertEqual(events["TEST.ONE"], "changed")
        self.assertEqual(len(events), len(set(events)))

    def test_search_finds_them(self):
        self.events("load", "--uarch", "mychip", self.write("mine.json", json.dumps(SMALL)))
        found = [e["name"] for e in self.listed("--uarch", "mychip", "--search", "second")]
        self.assertEqual(found, ["TEST.TWO"])
        self.assertIn("TEST.ONE", [e["name"] for e in self.listed("--uarch", "all", "TEST.*")])

    def test_hostile_names(self):
        for name in ("../../x", "a/b", "", ".", "..", "x" * 5000):
            with self.subTest(name[:20]):
                path = self.write("mine.json", json.dumps(SMALL))
                self.fails("load", "--uarch", name, path)
        self.assertFalse(os.path.exists(self.path("x")))

    def test_bad_expression(self):
        self.fails("load", "--cpu", "[", self.write("mine.json", json.dumps(SMALL)))


class Bad(Events):
    def test_code_that_is_no_number(self):
        path = self.write("odd_core.json", '[{"EventName": "A.B", "EventCode": "0xzz", "UMask": "0x1"}]')
        result = self.tacho("events", "load", path)
        self.assertEqual(result.returncode, 1)
        self.assertIn("event 'A.B': EventCode '0xzz' is not a number", result.stderr)

    def test_words(self):
        self.fails("load", status=2)
        self.fails("remove", status=2)
        self.fails("nonsense", status=2)
        self.assertIn("no-such", self.fails("remove", "no-such"))

    def test_missing_file(self):
        self.assertIn(self.path("none.json"), self.fails("load", self.path("none.json")))

    def test_unreadable_file(self):
        needs_other_user()
        path = self.write("mine.json", json.dumps(SMALL))
        os.chmod(path, 0)
        result = self.tacho("events", "load", path, before=AS_NOBODY)
        self.assertEqual(result.returncode, 1)
        self.assertOneSentence(result.stderr)
        self.assertIn("mine.json", result.stderr)
        self.assertIn("Permission denied", result.stderr)

    def test_broken_json(self):
        path = self.write("broken.json", '[\n{"EventName": "A",\n "EventCode" 1}\n]\n')
        sentence = self.fails("load", path)
        self.assertIn("broken.json", sentence)
        self.assertIn("line 3", sentence)
        self.assertEqual(self.loaded(), [])

    def test_other_json(self):
        for text in ("", "{", "null", "3", '"x"', "[3]", "[[]]", "\0\0", "[" * 100000,
                     '[{"EventName": 3, "EventCode": []}]'):
            with self.subTest(text[:20]):
                result = self.tacho("events", "load", self.write("odd.json", text))
                self.assertIn(result.returncode, (0, 1))
                if result.returncode:
                    self.assertOneSentence(result.stderr)
                    self.assertIn("odd.json", result.stderr)

    def test_folder_without_files(self):
        os.mkdir(self.path("empty"))
        self.assertIn(self.path("empty"), self.fails("load", self.path("empty")))

    def test_one_bad_file_of_several(self):
        good = self.write("good.json", json.dumps(SMALL))
        result = self.tacho("events", "load", self.path("none.json"), good)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(self.loaded(), ["good"])

    def test_folder_that_cannot_be_written(self):
        path = self.write("mine.json", json.dumps(SMALL))
        self.write("data/tacho", "a file where the folder should be")
        self.fails("load", path)


class OtherMachine(Events):
    """Files for an Ice Lake server, on one."""

    def setUp(self):
        super().setUp()
        self.write("sys/bus/event_source/devices/cpu/type", "4\n")
        self.write("sys/bus/event_source/devices/cpu/format/event", "config:0-7\n")
        self.write("sys/bus/event_source/devices/cpu/format/umask", "config:8-15\n")
        self.write("sys/devices/system/cpu/online", "0-3\n")
        self.write("proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
                   "model\t\t: 106\nstepping\t: 6\n\n")
        self.env = {"TACHO_SYSFS": self.path("sys"), "TACHO_PROCFS": self.path("proc")}

    def test_wins_for_its_cpu(self):
        path = self.write("mine.json", json.dumps(SMALL))
        self.events("load", "--uarch", "icelakex", "--cpu", "GenuineIntel-6-6[AC]", path)
        self.events("load", "--uarch", "other", "--cpu", "GenuineIntel-6-8F",
                    self.write("other.json", json.dumps([dict(SMALL[0], EventName="OTHER.ONE")])))
        result = self.events(env=self.env)
        self.assertIn("GenuineIntel-6-6A-6", result.stdout)
        self.assertEqual([line.split()[0] for line in result.stdout.splitlines() if "(this CPU)" in line],
                         ["icelakex"])
        events = self.listed("pmu", env=self.env)
        names = [e["name"] for e in events]
        self.assertIn("TEST.ONE", names)
        self.assertNotIn("OTHER.ONE", names)
        one = [e for e in events if e["name"] == "TEST.ONE"][0]
        self.assertEqual((one["source"], one["pmu"]), ("file", "cpu"))
        self.assertIn("event=0xc0", one["encoding"])

    def test_hides_libpfm4(self):
        before = {e["source"] for e in self.listed("--uarch", "icelakex")}
        self.assertEqual(before, {"libpfm4"})
        self.events("load", "--uarch", "icelakex", self.write("mine.json", json.dumps(SMALL)))
        core = {e["name"]: e["source"] for e in self.listed("--uarch", "icelakex")}
        self.assertEqual(core["TEST.ONE"], "file")
        self.assertNotIn("INSTRUCTION_RETIRED", core)
        self.events("remove", "icelakex")
        self.assertEqual({e["source"] for e in self.listed("--uarch", "icelakex")}, {"libpfm4"})


class Published(Events):
    """The files that Intel publishes: everything in them is listed as it stands there."""

    def setUp(self):
        super().setUp()
        if not glob.glob(EMAPS + "/*_core.json"):
            self.skipTest("needs Intel's event files in ../shared/emaps")
        self.events("load", EMAPS)

    def compare(self, uarch):
        with open("%s/%s_core.json" % (EMAPS, uarch)) as text:
            events = json.load(text)["Events"]
        self.assertGreater(len(events), 100)
        listed = {e["name"]: e for e in self.listed("--uarch", uarch) if e["source"] == "file"}
        self.assertEqual(set(listed), {e["EventName"] for e in events})
        for e in events:
            mine = listed[e["EventName"]]
            with self.subTest(e["EventName"]):
                self.assertEqual(int(mine["code"], 16), int(e["EventCode"].split(",")[0], 16))
                self.assertEqual(int(mine["umask"], 16), int(e["UMask"].split(",")[0], 16))
                self.assertEqual(mine["description"], e["BriefDescription"].strip())

    def test_icelakex(self):
        self.compare("icelakex")

    def test_skylakex(self):
        self.compare("skylakex")

    def test_both_are_there(self):
        self.assertEqual(self.loaded(), ["icelakex", "skylakex"])

    def test_one_file(self):
        self.events("remove", "icelakex", "skylakex")
        self.events("load", EMAPS + "/icelakex_core.json")
        self.assertEqual(self.loaded(), ["icelakex"])

    def test_its_cpu(self):
        self.write("proc/cpuinfo", "processor: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
                   "model\t\t: 106\nstepping\t: 6\n\n")
        env = {"TACHO_SYSFS": self.path("sys"), "TACHO_PROCFS": self.path("proc")}
        mine = [line for line in self.events(env=env).stdout.splitlines() if "(this CPU)" in line]
        self.assertEqual([line.split()[0] for line in mine], ["icelakex"])


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""What all commands share: help, manual pages, completion, bad usage."""

import os
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree

from helpers import LIMIT_S, TACHO, TOP, Case, environment, in_terminal, plain

SIDE_BY_SIDE = True

COMMANDS = ["stat", "script", "record", "report", "list", "events", "doctor", "completion", "help"]


def options_of(text):
    """The options at the beginning of the lines of a help text."""
    found = set()
    for line in text.splitlines():
        head = re.match(r" {2,7}(-\w, )?(-\w|--[\w-]+)", line)
        if head:
            found |= set(re.findall(r"(?<![\w-])(--[\w-]+|-\w)(?=[ ,=\[]|$)", re.split(r"  +", line.strip())[0]))
    return found


def options_of_manual(text):
    found = set()
    for head in re.findall(r"^\.TP\n\.B (.*)$", text, re.M):
        found |= set(re.findall(r"(?<![\w-])(--[\w-]+|-\w)(?=[ ,=\[]|$)", head.replace("\\-", "-")))
    return found


def without_tracefs(text):
    """Not everybody may read tracefs, and is told so."""
    return "".join(x for x in text.splitlines(True) if "tracefs can only be read by root" not in x
                   and "tracefs is not mounted" not in x)


class Pictures(Case):
    """The pictures of the documentation come from the program itself."""

    def test_screenshot(self):
        tool = os.path.join(TOP, "tools", "screenshot")
        path = os.path.join(self.home, "picture.svg")
        subprocess.run([tool, "--columns", "80", path, TACHO, "stat", "-e", "page-faults,cs", "true"],
                       check=True, env=environment(self.home))
        text = xml.etree.ElementTree.parse(path).getroot()
        words = " ".join("".join(part.itertext()) for part in text.iter())
        self.assertIn("Performance counter stats for 'true'", words)
        self.assertIn("page-faults", words)
        self.assertIn("seconds time elapsed", words)


class Help(Case):
    def test_commands(self):
        result = self.tacho("--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        names = re.findall(r"(?m)^  (\w+) +\w", result.stdout)
        for name in COMMANDS:
            self.assertIn(name, names)
        self.assertEqual(self.tacho("-h").stdout, result.stdout)
        self.assertEqual(self.tacho("help").stdout, result.stdout)
        for name in names:
            one = self.tacho(name, "--help")
            self.assertEqual((one.returncode, one.stderr), (0, ""))
            self.assertTrue(one.stdout.startswith("Usage: tacho %s" % name))
            self.assertEqual(self.tacho("help", name).stdout, one.stdout)

    def test_no_command(self):
        result = self.tacho()
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("Usage: tacho COMMAND", result.stderr)

    def test_version(self):
        for word in ("--version", "-v", "version"):
            result = self.tacho(word)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertRegex(result.stdout, r"^tacho \d+\.\d+\.\d+\n$")

    def test_manual_has_the_same_options(self):
        for name in COMMANDS:
            with self.subTest(name):
                helped = options_of(self.tacho(name, "--help").stdout)
                manual = options_of_manual(self.tacho("help", "--man", name).stdout)
                self.assertEqual(helped - {"-h", "--help"}, manual - {"-h", "--help"})
        self.assertTrue({"-e", "--event", "--per-core", "-x", "--append"} <=
                        options_of(self.tacho("stat", "--help").stdout))

    def test_options_are_taken(self):
        # What the help names the program must know.
        for name in ("stat", "list", "events", "doctor"):
            options = options_of(self.tacho(name, "--help").stdout)
            self.assertGreaterEqual(len(options), 2)
            for option in options:
                result = self.tacho(name, option, "--help")
                self.assertNotIn("unknown option", result.stderr)

    def test_manual_pages_are_sound(self):
        pages = {name: self.tacho("help", "--man", name).stdout for name in COMMANDS}
        pages["tacho"] = self.tacho("help", "--man").stdout
        mandoc = shutil.which("mandoc")
        if not mandoc and not shutil.which("man"):
            self.skipTest("needs mandoc(1) or man(1)")
        for name, page in pages.items():
            with self.subTest(name):
                path = self.write(name + ".1", page)
                if mandoc:
                    result = subprocess.run([mandoc, "-Tlint", "-W", "warning", path], text=True,
                                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                    # A page printed by a program has no date.
                    worse = [x for x in result.stdout.splitlines() if "missing date" not in x]
                    self.assertEqual(worse, [])
                else:
                    result = subprocess.run(["man", "--warnings", "-l", path], text=True,
                                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                    self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertIn(".SH NAME", page)

    def test_installed_manual_pages(self):
        folder = os.path.dirname(TACHO)
        if not os.path.exists(os.path.join(folder, "tacho.1")):
            self.skipTest("no manual pages were built beside the program")
        for name in COMMANDS:
            with open(os.path.join(folder, "tacho-%s.1" % name)) as text:
                self.assertEqual(text.read(), self.tacho("help", "--man", name).stdout)

    def test_width(self):
        for name in COMMANDS:
            text = self.tacho(name, "--help", env={"COLUMNS": "80"}).stdout
            body = text.split("\nExamples:")[0]
            self.assertGreater(len(body.splitlines()), 2)
            self.assertFalse([x for x in body.splitlines()[3:] if len(x) > 80])

    def test_in_a_terminal(self):
        status, output = in_terminal([TACHO, "--help"], environment(self.home))
        self.assertEqual(status, 0)
        self.assertIn(b"\x1b[", output)
        self.assertEqual(plain(output), self.tacho("--help").stdout)


class Completion(Case):
    def script(self, shell):
        result = self.tacho("completion", shell)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return self.write("complete." + shell, result.stdout)

    def check(self, shell, *more):
        if not shutil.which(shell):
            self.skipTest("needs %s(1)" % shell)
        script = self.script(shell)
        result = subprocess.run([shell, *more, "-n", script], stdout=subprocess.PIPE, text=True,
                                stderr=subprocess.STDOUT, env=environment(self.home))
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        with open(script) as text:
            self.assertIn("per-core", text.read())

    def test_bash(self):
        self.check("bash")

    def test_zsh(self):
        self.check("zsh")

    def test_fish(self):
        self.check("fish")

    def complete(self, *words):
        """What bash offers behind these words."""
        if not shutil.which("bash"):
            self.skipTest("needs bash(1)")
        script = 'PATH="$(dirname "$1"):$PATH"; source "$2"; shift 2; COMP_WORDS=("$@"); ' \
            'COMP_CWORD=$(($# - 1)); _tacho; printf "%s\\n" "${COMPREPLY[@]}"'
        result = subprocess.run(["bash", "-c", script, "bash", TACHO, self.script("bash"), "tacho", *words],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=environment(self.home))
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.split("\n")[:-1]

    def test_bash_completes(self):
        self.assertEqual(self.complete("st"), ["stat"])
        self.assertEqual(self.complete("stat", "--per-c"), ["--per-core"])
        self.assertIn("--uarch", self.complete("list", "--u"))
        self.assertIn("zsh", self.complete("completion", ""))
        self.assertIn("page-faults", self.complete("stat", "-e", "page-"))
        self.assertIn("task-clock,page-faults", self.complete("stat", "-e", "task-clock,page-"))

    def test_fish_offers(self):
        if not shutil.which("fish"):
            self.skipTest("needs fish(1)")
        script = self.script("fish")
        result = subprocess.run(["fish", "-N", "-c", "source %s; complete -C 'tacho stat --per-c'" % script],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=environment(self.home))
        self.assertRegex(result.stdout, r"(?m)^--per-core\b", result.stderr)

    def test_unknown_shell(self):
        for args in ([], ["tcsh"]):
            result = self.tacho("completion", *args)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertOneSentence(result.stderr)


class Bad(Case):
    def fails(self, status, *args, **more):
        result = self.tacho(*args, **more)
        self.assertEqual((result.returncode, result.stdout), (status, ""), result.stderr[:300])
        self.assertOneSentence(result.stderr)
        return result.stderr

    def test_unknown_command(self):
        self.assertIn("'stat'", self.fails(2, "stst"))
        self.assertIn("'doctor'", self.fails(2, "docter"))
        self.assertNotIn("did you mean", self.fails(2, "zzzzzzzz"))
        self.assertIn("zzzz", self.fails(2, "help", "zzzz"))

    def test_hostile_command(self):
        self.assertNotIn("\x1b", self.fails(2, "\x1b[31m"))

    def test_unknown_option(self):
        self.assertIn("--per-core", self.fails(125, "stat", "--per-coer", "true"))
        self.assertIn("--search", self.fails(2, "list", "--serach", "x"))
        self.fails(2, "list", "-Z")
        self.fails(2, "doctor", "--nonsense")
        self.fails(2, "list", "--search")
        self.fails(2, "list", "--json=yes")

    def test_ten_thousand_events(self):
        result = self.stat("-x,", "-e", ",".join(["page-faults"] * 10000), "true")
        self.assertIn(result.returncode, (0, 125), result.stderr[:300])
        if result.returncode:
            self.assertOneSentence(result.stderr)
            self.assertLess(len(result.stderr), 1000)
        else:
            rows = [x for x in result.stderr.splitlines() if x[0] != "#"]
            self.assertEqual(len(rows), 10000)
            self.assertEqual(len({x.split(",")[0] for x in rows if "<not" not in x}), 1)

    def test_ten_thousand_events_and_few_files(self):
        result = self.stat("-x,", "-e", ",".join(["page-faults"] * 10000), "true",
                           before=["sh", "-c", 'ulimit -n 256; exec "$0" "$@"'])
        self.assertEqual(result.returncode, 125, result.stderr[:300])
        self.assertOneSentence(result.stderr)
        self.assertIn("ulimit", result.stderr)

    def test_long_event(self):
        for text in ("x" * 100000, "page-faults:" + "u" * 100000, "{" * 100000, "cpu/" + "a" * 100000 + "/",
                     "a:" + "b" * 100000, "r" + "1" * 100000, "/" * 100000, "sched:" + "*" * 100000):
            with self.subTest(text[:12]):
                result = self.stat("-e", text, "true")
                self.assertIn(result.returncode, (0, 125))
                if result.returncode:
                    self.assertLess(len(result.stderr), 4000, "the whole text is printed again")
                    self.assertOneSentence(result.stderr)

    def test_odd_events(self):
        for text in ("\x1b[31mred", "page\nfaults", "\xff\xfe", "page-faults\0", "%s%n", "'", '"', "\\"):
            if "\0" in text:
                continue
            with self.subTest(repr(text)):
                result = self.stat("-e", text, "true", text=False)
                self.assertEqual(result.returncode, 125)
                self.assertNotIn(b"\x1b", result.stderr)
                self.assertTrue(result.stderr.startswith(b"tacho: stat: "))

    def test_nobody_reads(self):
        for args in (["--help"], ["stat", "--help"], ["list"], ["list", "--json"], ["list", "--uarch", "all"],
                     ["list", "--names"], ["events"], ["completion", "bash"], ["help", "--man", "stat"]):
            with self.subTest(args):
                result = subprocess.run(["sh", "-c", '{ "$0" "$@"; echo $? >"$HOME/status"; } | :', TACHO,
                                         *args], env=environment(self.home), stderr=subprocess.PIPE, timeout=LIMIT_S)
                with open(self.path("status")) as text:
                    # Whatever fitted into the pipe before its reader had gone was written.
                    self.assertIn(text.read(), ("0\n", "141\n"))
                self.assertEqual(without_tracefs(result.stderr.decode()), "")

    def test_head(self):
        result = subprocess.run(["sh", "-c", '"$0" list | head -1; "$0" list --json | head -1', TACHO],
                                env=environment(self.home), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, timeout=LIMIT_S)
        self.assertEqual(len(result.stdout.splitlines()), 2)
        self.assertEqual(without_tracefs(result.stderr), "")

    def test_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w") as full:
            for args in (["list"], ["--version"], ["events"], ["list", "--json"], ["help"]):
                result = self.tacho(*args, stdout=full)
                self.assertEqual(result.returncode, 1, args)
                self.assertIn("cannot write the output: No space left", result.stderr, args)

    def test_closed_output(self):
        for args in ("list", "--help", "--version", "events", "doctor --json", "list --json"):
            for closed in (">&-", "2>&-", "<&- >&- 2>&-"):
                result = subprocess.run(["sh", "-c", '"$0" %s %s' % (args, closed), TACHO],
                                        env=environment(self.home), timeout=LIMIT_S,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.assertIn(result.returncode, (0, 1), (args, closed, result.stderr))

    def test_no_home(self):
        env = {"HOME": "", "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": ""}
        self.assertEqual(self.tacho("stat", "-e", "page-faults", "true", env=env, cwd=self.home).returncode, 0)
        self.assertEqual(self.tacho("list", "sw", env=env, cwd=self.home).returncode, 0)
        self.assertEqual(os.listdir(self.home), [], "something was written into the current folder")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""tacho doctor, run as a user would: on this machine, on copies of others, and with --fix."""

import ctypes
import fcntl
import glob
import json
import os
import platform
import pty
import re
import shutil
import signal
import stat
import struct
import subprocess
import tempfile
import termios
import unittest

from helpers import alive, eventually

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TACHO = os.path.abspath(os.environ.get("TACHO", os.path.join(TOP, "build", "tacho")))
TREES = sorted(glob.glob(os.path.join(TOP, "tests", "trees", "*.tree")))

CHECKS = """privileges perf-events paranoid pmu watchdog cgroups sample-rate stack-depth
ring-memory open-files tracepoints kprobes uprobes lockdown bpf bpf-jit btf kallsyms kernel-debug
debug-files perf kernel virtual cpus smt governor turbo clock load processes steal
cpu-quota""".split()
STATUSES = {"ok", "limited", "missing", "info"}
FIXES = ["tracefs", "paranoid", "kptr", "watchdog", "governor"]
LIVE_ONLY = ["privileges", "perf-events", "bpf", "perf", "processes", "open-files"]


def environment(extra=None):
    env = {k: v for k, v in os.environ.items()
           if k not in ("TACHO_SYSFS", "TACHO_PROCFS", "NO_COLOR", "COLUMNS", "DEBUGINFOD_URLS")}
    env["LC_ALL"] = "C.UTF-8"
    env.update(extra or {})
    return env


def run(*args, env=None, command=None, **more):
    return subprocess.run((command or []) + [TACHO, "doctor", *args], env=environment(env),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=180, **more)


def checks_of(result):
    return {check["name"]: check for check in json.loads(result.stdout)["checks"]}


def in_terminal(env=None, columns=100, **more):
    """What comes out on a terminal of that width."""
    master, slave = pty.openpty()
    try:
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        child = subprocess.Popen([TACHO, "doctor"], stdin=slave, stdout=slave, stderr=slave,
                                 env=environment(dict({"TERM": "xterm"}, **(env or {}))), **more)
        os.close(slave)
        slave = -1
        output = b""
        while True:
            try:
                block = os.read(master, 65536)
            except OSError:
                break
            if not block:
                break
            output += block
        return child.wait(), output
    finally:
        os.close(master)
        if slave >= 0:
            os.close(slave)


def seccomp(action, names):
    """A preexec_fn that lets the kernel do @action at the system calls @names."""
    numbers = {"x86_64": {"perf_event_open": 298, "bpf": 321, "mount": 165},
               "aarch64": {"perf_event_open": 241, "bpf": 280, "mount": 40}}
    table = numbers.get(platform.machine())
    if not table:
        raise unittest.SkipTest("system call numbers of %s are not known" % platform.machine())
    code = struct.pack("HBBI", 0x20, 0, 0, 0)  # load the number
    for name in names:
        code += struct.pack("HBBI", 0x15, 0, 1, table[name])  # not it: skip one
        code += struct.pack("HBBI", 0x06, 0, 0, action)
    code += struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000)  # allow
    text = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(text))
    libc = ctypes.CDLL(None, use_errno=True)

    def install():
        assert text  # keeps the memory alive
        if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
            os._exit(99)
    return install


SECCOMP_KILL, SECCOMP_EPERM = 0x80000000, 0x00050001


def needs_namespace():
    if os.geteuid() != 0:
        raise unittest.SkipTest("needs root, for a mount namespace")
    if not shutil.which("unshare"):
        raise unittest.SkipTest("needs unshare(1)")
    if subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode:
        raise unittest.SkipTest("mount namespaces are not allowed here")


def needs_other_user():
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        raise unittest.SkipTest("needs root and setpriv(1), to become somebody else")
    if subprocess.run([*AS_NOBODY, "test", "-x", TACHO]).returncode:
        raise unittest.SkipTest("other users cannot reach %s" % TACHO)


AS_NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


class Directory(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="tacho-doctor-")
        self.addCleanup(shutil.rmtree, self.dir)

    def write(self, path, text):
        full = os.path.join(self.dir, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as out:
            out.write(text if isinstance(text, bytes) else text.encode())
        return full

    def script(self, path, text):
        full = self.write(path, "#!/bin/sh\n" + text)
        os.chmod(full, stat.S_IRWXU | stat.S_IROTH | stat.S_IXOTH)
        return full


class Report(unittest.TestCase):
    def test_json_has_every_check(self):
        result = run("--json")
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        whole = json.loads(result.stdout)
        self.assertEqual([c["name"] for c in whole["checks"]], CHECKS)
        for check in whole["checks"]:
            with self.subTest(check["name"]):
                self.assertIn(check["status"], STATUSES)
                self.assertTrue(check["finding"])
                if check["status"] in ("limited", "missing"):
                    self.assertTrue(check["cost"])
                self.assertEqual(check["fixable"], check["fix_name"] in FIXES)
                if check["fixable"]:
                    self.assertTrue(check["fix_is_command"] and check["fix"])
        for status in STATUSES:
            self.assertEqual(whole["summary"][status],
                             sum(c["status"] == status for c in whole["checks"]))
        self.assertEqual(whole["machine"]["release"], platform.release())
        self.assertEqual(whole["machine"]["arch"], platform.machine())
        self.assertFalse(whole["machine"]["foreign"])

    def test_text_in_a_pipe(self):
        result = run(env={"COLUMNS": "80"})
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertNotIn(b"\x1b", result.stdout)
        text = result.stdout.decode("ascii")
        lines = re.findall(r"^  (ok|limited|missing|info) +\S", text, re.M)
        self.assertEqual(len(lines), len(CHECKS))
        summary = re.search(r"^(\d+) ok, (\d+) limited, (\d+) missing$", text, re.M)
        self.assertEqual([int(n) for n in summary.groups()],
                         [lines.count(s) for s in ("ok", "limited", "missing")])
        for line in text.splitlines():
            if not re.match(r" +(fix|or):", line):
                self.assertLessEqual(len(line.rstrip()), 80, line)

    def test_what_is_not_ok_says_why(self):
        # With the filter there is something to say on every machine.
        blocks = re.split(r"^(?=  (?:ok|limited|missing|info) )",
                          run(preexec_fn=seccomp(SECCOMP_EPERM, ["perf_event_open", "bpf"]))
                          .stdout.decode(), flags=re.M)
        bad = [b for b in blocks if re.match(r"  (limited|missing) ", b)]
        self.assertTrue(bad)
        for block in bad:
            self.assertRegex(block, r"\n +costs: \S")

    def test_terminal(self):
        status, output = in_terminal(
            preexec_fn=seccomp(SECCOMP_EPERM, ["perf_event_open", "bpf"]))
        self.assertEqual(status, 0)
        self.assertIn(b"\x1b[", output)
        self.assertIn("\u2713 ok".encode(), output)
        plain = re.sub(rb"\x1b\[[0-9;]*m", b"", output).decode()
        columns = {line.index(title)
                   for title in ("clock  ", "tracepoints  ", "perf events  ", "costs: ")
                   for line in plain.splitlines() if title in line}
        self.assertEqual(len(columns), 1, "titles are not aligned")

    def test_terminal_without_colours_or_utf8(self):
        self.assertNotIn(b"\x1b", in_terminal({"NO_COLOR": "1"})[1])
        _, output = in_terminal({"LC_ALL": "C"})
        self.assertTrue(output.isascii())
        self.assertRegex(output, rb"ok\x1b\[0m +clock")

    def test_usage(self):
        self.assertEqual(run("stray").returncode, 2)
        self.assertEqual(run("--nonsense").returncode, 2)
        text = run("--help").stdout.decode()
        for word in ["--fix", "--json", *FIXES, "TACHO_SYSFS", "TACHO_PROCFS"]:
            self.assertIn(word, text)

    def test_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([TACHO, "doctor"], stdout=full, stderr=subprocess.PIPE,
                                    env=environment())
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"cannot write the output", result.stderr)

    def test_another_user(self):
        needs_other_user()
        result = run("--json", command=AS_NOBODY)
        self.assertEqual(result.returncode, 0)
        checks = checks_of(result)
        self.assertEqual(checks["privileges"]["status"], "info")
        for check in checks.values():
            if check["fixable"]:
                self.assertIn("sudo ", check["fix"])


class Refusals(Directory):
    def test_seccomp(self):
        result = run("--json", preexec_fn=seccomp(SECCOMP_EPERM, ["perf_event_open", "bpf"]))
        self.assertEqual(result.returncode, 0)
        checks = checks_of(result)
        self.assertEqual(checks["perf-events"]["status"], "missing")
        self.assertIn("seccomp", checks["perf-events"]["finding"])
        self.assertIn("--cap-add PERFMON", checks["perf-events"]["fix"])
        self.assertIn(checks["pmu"]["status"], ("limited", "missing"))
        self.assertEqual(checks["bpf"]["status"], "limited")

    def perf(self, script, enough=lambda check: "no answer" not in check["finding"]):
        """What is found out about a perf, at the first time that it has got somewhere in its second."""
        path = self.script("bin/perf", script)

        def look():
            result = run("--json", env={"PATH": os.path.dirname(path) + ":" + os.environ["PATH"]})
            self.assertEqual(result.returncode, 0)
            check = checks_of(result)["perf"]
            return check if enough(check) else None
        check = eventually(look)
        self.assertTrue(check, "perf is not waited for")
        return check

    def test_perf_is_asked_for_its_version(self):
        check = self.perf('echo "perf version 9.9.$#.$1"; echo more; exec cat')
        self.assertEqual(check["status"], "ok")
        self.assertIn("perf version 9.9.1.--version", check["finding"])
        self.assertNotIn("more", check["finding"])

    def test_perf_that_fails(self):
        self.assertIn("it fails", self.perf("echo something; exit 2")["finding"])

    def test_perf_that_hangs_is_ended_with_its_children(self):
        mark = os.path.join(self.dir, "pid")
        check = self.perf("sleep 300 & echo $! > %s.new; mv %s.new %s; wait" % (mark, mark, mark),
                          lambda check: os.path.exists(mark))
        self.assertIn("no answer", check["finding"])
        with open(mark) as pid:
            child = int(pid.read())
        self.assertTrue(eventually(lambda: not alive(child)), "the child of perf still runs")

    def test_perf_cannot_steer_the_terminal(self):
        self.assertIn("perf ?[31m?", self.perf("printf 'perf \\033[31m\\377\\n'")["finding"])

    def test_perf_of_the_current_directory_is_not_run(self):
        self.script("perf", "touch ran")
        run(env={"PATH": ":.:" + os.environ["PATH"]}, cwd=self.dir)
        self.assertFalse(os.path.exists(os.path.join(self.dir, "ran")))


class Foreign(Directory):
    def foreign(self, *args, **more):
        """Runs on self.dir; the kernel kills whatever opens an event, loads BPF or mounts."""
        mark = os.path.join(self.dir, "perf-ran")
        bin_dir = os.path.dirname(self.script("bin/perf", "touch %s" % mark))
        result = run(*args, env={"TACHO_SYSFS": os.path.join(self.dir, "sys"),
                                 "TACHO_PROCFS": os.path.join(self.dir, "proc"),
                                 "PATH": bin_dir + ":" + os.environ["PATH"]},
                     preexec_fn=seccomp(SECCOMP_KILL, ["perf_event_open", "bpf", "mount"]), **more)
        self.assertFalse(os.path.exists(mark), "perf was run")
        return result

    def test_the_filter_kills(self):
        # The proof that the tests below can fail.
        result = run(preexec_fn=seccomp(SECCOMP_KILL, ["perf_event_open", "bpf", "mount"]))
        self.assertEqual(result.returncode, -signal.SIGSYS)

    def test_trees(self):
        self.assertTrue(TREES, "no trees to look at")
        for tree in TREES:
            with self.subTest(os.path.basename(tree)):
                shutil.rmtree(self.dir)
                subprocess.run([os.path.join(TOP, "tests", "trees", "unpack"), tree, self.dir],
                               check=True)
                text, result = self.foreign(), self.foreign("--json")
                for one in (text, result):
                    self.assertEqual((one.returncode, one.stderr), (0, b""))
                    self.assertNotIn(b"\x1b", one.stdout)
                checks = checks_of(result)
                self.assertEqual(list(checks), CHECKS)
                for name in LIVE_ONLY:
                    self.assertIn("not tested", checks[name]["finding"])
                    self.assertEqual(checks[name]["status"], "info")
                self.assertFalse(any(c["fixable"] for c in checks.values()))
                self.assertTrue(json.loads(result.stdout)["machine"]["foreign"])

    def test_trees_are_told_apart(self):
        expected = {"hybrid-intel": ("info", r"cpu_atom .*cpu_core .*not tested"),
                    "arm64-big-little": ("info", r"armv8_cortex_a53 .*armv8_cortex_a72"),
                    "s390x": ("info", r"cpum_cf"),
                    "vm-no-pmu": ("missing", r"hypervisor")}
        for name, (status, finding) in expected.items():
            with self.subTest(name):
                shutil.rmtree(self.dir)
                subprocess.run([os.path.join(TOP, "tests", "trees", "unpack"),
                                os.path.join(TOP, "tests", "trees", name + ".tree"), self.dir],
                               check=True)
                pmu = checks_of(self.foreign("--json"))["pmu"]
                self.assertEqual(pmu["status"], status)
                self.assertRegex(pmu["finding"], finding)

    def test_nothing_there(self):
        result = self.foreign("--json")
        self.assertEqual(result.returncode, 0)
        self.assertEqual({c["status"] for c in checks_of(result).values()}, {"info"})

    # One file or a few, and what doctor must make of it.
    CLOCK = "sys/devices/system/clocksource/clocksource0/"
    CPU = "sys/devices/system/cpu/"
    CASES = [
        ({"proc/sys/kernel/perf_event_paranoid": "2"}, "paranoid", "limited", r"^2: "),
        ({"proc/sys/kernel/perf_event_paranoid": "1"}, "paranoid", "ok", r"^1: "),
        ({"proc/sys/kernel/perf_event_paranoid": "-1"}, "paranoid", "ok", r"everything"),
        ({"proc/sys/kernel/perf_event_paranoid": "2x"}, "paranoid", "info", r"not known"),
        ({"proc/sys/kernel/nmi_watchdog": "1", "sys/bus/event_source/devices/cpu/type": "4"},
         "watchdog", "limited", r"holds one hardware counter"),
        ({"proc/sys/kernel/nmi_watchdog": "1", "sys/bus/event_source/devices/msr/type": "9"},
         "watchdog", "ok", r"no hardware counters"),
        ({"proc/sys/kernel/perf_event_max_sample_rate": "999"}, "sample-rate", "limited", r"999"),
        ({"proc/sys/kernel/perf_event_max_stack": "16"}, "stack-depth", "limited", r"16 frames"),
        ({"proc/sys/kernel/perf_event_mlock_kb": "64"}, "ring-memory", "limited", r"64 KiB"),
        ({"proc/kallsyms": "0000000000000000 T a\n" * 5000, "proc/sys/kernel/kptr_restrict": "2"},
         "kallsyms", "limited", r"kptr_restrict is 2"),
        ({"proc/kallsyms": "0000000000000000 A a\nffffffff81000000 T b\n"}, "kallsyms", "ok", r"names"),
        ({"sys/kernel/security/lockdown": "none integrity [confidentiality]"}, "lockdown",
         "limited", r"confidentiality"),
        ({"proc/sys/net/core/bpf_jit_enable": "0"}, "bpf-jit", "limited", r"off"),
        ({CLOCK + "current_clocksource": "hpet", CLOCK + "available_clocksource": "tsc hpet"},
         "clock", "limited", r"hpet"),
        ({CLOCK + "current_clocksource": "tsc"}, "clock", "ok", r"^tsc$"),
        ({CPU + "smt/active": "1"}, "smt", "info", r"^on"),
        ({CPU + "intel_pstate/no_turbo": "0"}, "turbo", "info", r"^on"),
        ({CPU + "intel_pstate/no_turbo": "1"}, "turbo", "ok", r"^off"),
        ({CPU + "cpufreq/boost": "0"}, "turbo", "ok", r"^off"),
        ({CPU + "cpu0/cpufreq/scaling_governor": "performance",
          CPU + "cpu7/cpufreq/scaling_governor": "powersave"}, "governor", "limited",
         r"powersave on 1 of 2"),
        ({CPU + "cpu0/cpufreq/scaling_governor": "performance"}, "governor", "ok", r"all 1"),
        ({CPU + "online": "0-3", "proc/loadavg": "3.50 1.00 0.50 1/2 3"}, "load", "limited",
         r"3\.50"),
        ({CPU + "online": "0-3", "proc/loadavg": "0.50 1.00 0.50 1/2 3"}, "load", "ok", r"4 CPUs"),
        ({"proc/stat": "cpu  10 0 10 60 0 0 0 20 0 0\n"}, "steal", "limited", r"20\.0 %"),
        ({"proc/stat": "cpu  20 0 10 70 0 0 0 0 0 0\n"}, "steal", "ok", r"0\.0 %"),
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/cgroup.controllers": "cpu",
          "sys/fs/cgroup/a/cpu.max": "50000 100000", "sys/fs/cgroup/a/b/cpu.max": "max 100000",
          CPU + "online": "0-3"}, "cpu-quota", "limited", r"0\.50 of 4"),
        ({"proc/self/cgroup": "3:cpuset:/\n2:cpu,cpuacct:/a\n", CPU + "online": "0-3",
          "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "150000",
          "sys/fs/cgroup/cpu/a/cpu.cfs_period_us": "100000"}, "cpu-quota", "limited",
         r"1\.50 of 4"),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cgroup.controllers": "cpu"}, "cpu-quota",
         "ok", r"none"),
        ({"proc/cpuinfo": "processor: 0\nflags\t\t: fpu hypervisor\n",
          "sys/class/dmi/id/sys_vendor": "Amazon EC2",
          "sys/class/dmi/id/product_name": "c5.large"}, "virtual", "info", r"Amazon EC2.*c5"),
        ({"proc/cpuinfo": "processor: 0\nflags\t\t: fpu\n",
          "sys/class/dmi/id/sys_vendor": "Amazon EC2",
          "sys/class/dmi/id/product_name": "c5.metal"}, "virtual", "info", r"no sign of"),
        ({"proc/sys/kernel/arch": "aarch64", "sys/class/dmi/id/sys_vendor": "Amazon EC2",
          "sys/class/dmi/id/product_name": "m6g.large"}, "virtual", "info", r"of Amazon EC2"),
        ({"proc/sys/kernel/arch": "aarch64", "sys/class/dmi/id/sys_vendor": "Amazon EC2",
          "sys/class/dmi/id/product_name": "m6g.metal"}, "virtual", "info", r"no sign of"),
        ({"proc/sys/kernel/osrelease": "3.10.0"}, "kernel", "limited", r"3\.10\.0"),
        ({"proc/sys/kernel/osrelease": b"6\x1b[31m\xc2\x9b31m\x00\n"}, "kernel", "ok",
         r"^Linux 6\?\[31m\?\?31m$"),
        ({CPU + "online": "0-99999999"}, "cpus", "info", r"not known"),
        ({CPU + "online": "0-3", CPU + "offline": "4"}, "cpus", "ok", r"^4 .*offline: CPU 4"),
    ]

    def test_cases(self):
        for files, name, status, finding in self.CASES:
            with self.subTest(name, files=list(files)):
                shutil.rmtree(self.dir)
                for path, text in files.items():
                    self.write(path, text)
                result = self.foreign("--json")
                self.assertEqual(result.returncode, 0)
                check = checks_of(result)[name]
                self.assertEqual(check["status"], status, check)
                self.assertRegex(check["finding"], finding)
                self.assertNotIn(b"\x1b", self.foreign().stdout)

    def test_pmu_advice_fits_the_hypervisor(self):
        advice = {("VMware, Inc.", "VMware Virtual Platform"): "vpmc.enable",
                  ("Microsoft Corporation", "Virtual Machine"): "Set-VMProcessor",
                  ("QEMU", "Standard PC"): "pmu=on", ("Google", "Google Compute Engine"):
                  "performanceMonitoringUnit", ("Amazon EC2", "m5.large"): "metal"}
        for (vendor, product), words in advice.items():
            with self.subTest(vendor):
                self.write("proc/cpuinfo", "processor: 0\nflags\t\t: hypervisor\n")
                self.write("sys/class/dmi/id/sys_vendor", vendor)
                self.write("sys/class/dmi/id/product_name", product)
                self.write("sys/bus/event_source/devices/software/type", "1")
                check = checks_of(self.foreign("--json"))["pmu"]
                self.assertEqual(check["status"], "missing")
                self.assertIn(words, check["fix"])

    def test_hostile_sizes(self):
        line = "x" * (1 << 20)
        for path in ("proc/cpuinfo", "proc/loadavg", "proc/stat", "proc/kallsyms",
                     "proc/self/status", "proc/self/cgroup", "proc/sys/kernel/osrelease",
                     "proc/sysinfo", self.CPU + "online", self.CPU + "offline",
                     self.CLOCK + "current_clocksource", self.CLOCK + "available_clocksource",
                     "sys/class/dmi/id/sys_vendor", "sys/class/dmi/id/product_name",
                     "sys/kernel/security/lockdown"):
            self.write(path, line)
        result = self.foreign("--json")
        self.assertEqual(result.returncode, 0)
        self.assertLess(len(result.stdout), 100000)

    def test_fix_refuses(self):
        self.write("proc/sys/kernel/perf_event_paranoid", "2\n")
        os.makedirs(os.path.join(self.dir, "sys/kernel/tracing"))
        for option in ("--fix", "--fix=paranoid"):
            result = self.foreign(option)
            self.assertEqual(result.returncode, 1)
            self.assertIn(b"TACHO_SYSFS", result.stderr)
        with open(os.path.join(self.dir, "proc/sys/kernel/perf_event_paranoid")) as text:
            self.assertEqual(text.read(), "2\n")


class Fix(Directory):
    def namespace(self, setup, *commands):
        """Runs "$TACHO doctor COMMAND" one after the other where mounts are seen by nobody else."""
        needs_namespace()
        script = "set -e\n" + setup + "\nset +e\n"
        for command in commands:
            script += command.replace("doctor", '"%s" doctor' % TACHO, 1) + "; echo \"= $?\"\n"
        return subprocess.run(["unshare", "-m", "sh", "-c", script], env=environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=180)

    UNMOUNT = "while umount /sys/kernel/tracing 2>/dev/null; do :; done\n" \
              "umount /sys/kernel/debug 2>/dev/null || :"

    def needs_tracefs(self):
        needs_namespace()
        with open("/proc/filesystems") as text:
            if "tracefs" not in text.read() or not os.path.isdir("/sys/kernel/tracing"):
                raise unittest.SkipTest("this kernel has no tracefs")

    def fake(self, path, value):
        """Shell lines that put a file of ours over @path."""
        copy = self.write("fake/" + path.replace("/", "_"), value + "\n")
        return "mount --bind %s %s\n" % (copy, path), copy

    def test_unknown_name(self):
        result = run("--fix=paranoid,nonsense")
        self.assertEqual((result.returncode, result.stdout), (2, b""))
        self.assertIn(b"'nonsense'", result.stderr)
        for name in FIXES:
            self.assertIn(name.encode(), result.stderr)

    def test_mounts_tracefs(self):
        self.needs_tracefs()
        result = self.namespace(self.UNMOUNT, "doctor --json",
                                "test -d /sys/kernel/tracing/events", "doctor --fix",
                                "test -d /sys/kernel/tracing/events", "doctor --fix",
                                "doctor --json")
        parts = re.split(r"(?m)^= (\d+)\n", result.stdout)
        self.assertEqual(parts[1::2], ["0", "1", "0", "0", "0", "0"], result)
        before, after = (json.loads(parts[i])["checks"] for i in (0, 10))
        before, after = ({c["name"]: c for c in x} for x in (before, after))
        self.assertEqual(before["tracepoints"]["status"], "missing")
        self.assertEqual(before["tracepoints"]["fix_name"], "tracefs")
        self.assertEqual(after["tracepoints"]["status"], "ok")
        self.assertIn("not mounted -> mounted on /sys/kernel/tracing", parts[4])
        self.assertIn("/etc/fstab", parts[4])
        self.assertIn("already mounted", parts[8])

    def test_suggests_itself(self):
        self.needs_tracefs()
        result = self.namespace(self.UNMOUNT, "doctor")
        self.assertRegex(result.stdout, r"(?m)^tacho doctor --fix mounts tracefs")

    def test_without_root_says_what_to_run(self):
        self.needs_tracefs()
        needs_other_user()
        result = self.namespace(self.UNMOUNT, " ".join(AS_NOBODY) + " doctor --fix")
        self.assertEqual(result.stdout, "= 1\n")
        self.assertIn("run: sudo mount -t tracefs", result.stderr)

    def test_settings(self):
        lines, paranoid = self.fake("/proc/sys/kernel/perf_event_paranoid", "3")
        more, kptr = self.fake("/proc/sys/kernel/kptr_restrict", "2")
        watchdog = None
        if os.path.exists("/proc/sys/kernel/nmi_watchdog"):
            line, watchdog = self.fake("/proc/sys/kernel/nmi_watchdog", "1")
            more += line
        names = "paranoid,kptr" + (",watchdog" if watchdog else "")
        result = self.namespace(lines + more, "doctor --fix=" + names, "doctor --fix=" + names,
                                "doctor --json --fix=" + names)
        parts = re.split(r"(?m)^= (\d+)\n", result.stdout)
        self.assertEqual(parts[1::2], ["0", "0", "0"], result)
        for change in ("paranoid: 3 -> 1", "kptr: 2 -> 0", "kernel.perf_event_paranoid = 1",
                       "kernel.kptr_restrict = 0", "/etc/sysctl.d/"):
            self.assertIn(change, parts[0])
        self.assertIn("paranoid: already 1", parts[2])
        self.assertNotIn("->", parts[2])
        fixed = {f["name"]: f for f in json.loads(parts[4])["fixes"]}
        self.assertEqual((fixed["kptr"]["changed"], fixed["kptr"]["from"]), (False, "0"))
        for path, value in ((paranoid, "1"), (kptr, "0"), (watchdog, "0")):
            if path:
                with open(path) as text:
                    self.assertEqual(text.read().strip(), value)

    def test_a_wider_setting_is_left_alone(self):
        lines, paranoid = self.fake("/proc/sys/kernel/perf_event_paranoid", "-1")
        result = self.namespace(lines, "doctor --fix=paranoid")
        self.assertIn("already -1", result.stdout)
        with open(paranoid) as text:
            self.assertEqual(text.read(), "-1\n")

    def test_only_what_is_named(self):
        lines, paranoid = self.fake("/proc/sys/kernel/perf_event_paranoid", "3")
        more, kptr = self.fake("/proc/sys/kernel/kptr_restrict", "2")
        self.namespace(lines + more, "doctor --fix", "doctor --fix=kptr")
        for path, value in ((paranoid, "3"), (kptr, "0")):
            with open(path) as text:
                self.assertEqual(text.read().strip(), value)

    def test_governor(self):
        cpus = os.path.join(self.dir, "cpus")
        for n, governor in enumerate(("powersave", "performance", "schedutil")):
            self.write("cpus/cpu%d/cpufreq/scaling_governor" % n, governor + "\n")
        self.write("cpus/online", "0-2\n")
        result = self.namespace("mount --bind %s /sys/devices/system/cpu" % cpus,
                                "doctor --fix=governor")
        self.assertIn("governor: powersave -> performance", result.stdout)
        self.assertIn("= 0", result.stdout)
        for n in range(3):
            with open(os.path.join(cpus, "cpu%d/cpufreq/scaling_governor" % n)) as text:
                self.assertEqual(text.read().strip(), "performance")

    def test_failure_is_a_failure(self):
        os.makedirs(os.path.join(self.dir, "cpus"))
        result = self.namespace("mount --bind %s/cpus /sys/devices/system/cpu" % self.dir,
                                "doctor --fix=governor", "doctor --json --fix=governor")
        self.assertEqual(re.findall(r"= (\d+)", result.stdout), ["1", "1"])
        self.assertIn("does not control the frequency", result.stderr)


if __name__ == "__main__":
    unittest.main()

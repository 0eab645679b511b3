#!/usr/bin/env python3
"""tacho stat with many tracepoints at once: the counts, the time, and what is left behind."""

import os
import re
import signal
import subprocess
import unittest

from helpers import (LIMIT_S, TRACEFS, Case, bpf_programs, columns_of, compiled, eventually, load,
                     needs_program, needs_root, needs_system_wide, needs_tracefs, wait_counting)

ALL = "syscalls:sys_enter_*"
FEW = "syscalls:sys_enter_get*id"  # enough for the tally
BLOCKS = 100000
DD = ["dd", "if=/dev/zero", "of=/dev/null", "bs=512", "count=%d" % BLOCKS, "status=none"]


class Tally(Case):
    def setUp(self):
        super().setUp()
        needs_tracefs()

    def counts(self, *args, **more):
        result = self.stat("-x,", "-e", *args, **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertFalse([x for x in result.stderr.splitlines() if x.startswith("#")], result.stderr)
        return {r[2].replace("syscalls:sys_enter_", ""): r[0] for r in columns_of(result.stderr)}

    def needs_tally(self):
        """Tests of the BPF side; where it cannot be used the others still hold."""
        result = self.stat("-x,", "-e", FEW, "true")
        if "counted one by one" in result.stderr:
            why = "BPF may not be used here: " + result.stderr.splitlines()[-1]
            if "namespace" in why or not os.path.exists("/sys/kernel/btf/vmlinux"):
                self.skipTest(why)
            bpf_programs()  # who may not even look is told so
            self.fail(why)


class Counts(Tally):
    def test_every_call_has_its_row(self):
        counts = self.counts(ALL, "true")
        there = {name[len("sys_enter_"):] for name in os.listdir(TRACEFS + "/events/syscalls")
                 if name.startswith("sys_enter_")}
        self.assertEqual(set(counts), there)
        self.assertFalse([n for n, v in counts.items() if not v.isdigit()], "not counted")

    def test_dd(self):
        many = self.counts(ALL, *DD)
        for name in ("read", "write"):
            single = self.count("syscalls:sys_enter_" + name, *DD)
            self.assertGreaterEqual(single, BLOCKS)
            self.assertLess(single, BLOCKS + 100)
            self.assertEqual(int(many[name]), single)

    def test_all_calls_of_a_program_agree_with_single_counters(self):
        command = ["cat", "/dev/null"]
        many = {n: int(v) for n, v in self.counts(ALL, *command).items()}
        used = sorted(n for n, v in many.items() if v)
        self.assertGreater(len(used), 5)
        self.assertEqual(many.get("exit_group"), 1)
        self.assertEqual(many.get("execve", 0), 0, "the exec that starts the program is not its own")
        # Up to three are counted by the kernel's own counters.
        for i in range(0, len(used), 3):
            rows = self.rows("-e", ",".join("syscalls:sys_enter_" + n for n in used[i:i + 3]), *command)
            self.assertEqual({r[2].split("sys_enter_")[1]: int(r[0]) for r in rows},
                             {n: many[n] for n in used[i:i + 3]})

    def test_exits(self):
        counts = self.counts("syscalls:sys_enter_getp*id,syscalls:sys_exit_getp*id", *load("calls", 1234))
        self.assertEqual(int(counts["getppid"]), 1234)
        self.assertEqual(int(counts["syscalls:sys_exit_getppid"]), 1234)

    def test_children(self):
        counts = self.counts(FEW, "sh", "-c", '"$0" calls 1000; "$0" calls 500', load()[0])
        self.assertGreaterEqual(int(counts["getppid"]), 1500)
        self.assertLess(int(counts["getppid"]), 1510)  # the shell asks, too
        dd = " ".join(DD).replace(str(BLOCKS), "1000")
        one = self.counts(ALL, "sh", "-c", dd + "; :")
        two = self.counts(ALL, "sh", "-c", dd + "; " + dd + "; :")
        self.assertGreaterEqual(int(two["read"]) - int(one["read"]), 1000)
        self.assertLess(int(two["read"]) - int(one["read"]), 1100)

    def test_children_left_out(self):
        counts = self.counts(FEW, "-i", "sh", "-c", '"$0" calls 1000; :', load()[0])
        self.assertLess(int(counts["getppid"]), 10)

    def test_threads(self):
        self.assertEqual(int(self.counts(FEW, *load("callthreads", 4, 5000))["getppid"]), 20000)

    def test_many_short_children(self):
        script = 'i=0; while [ $i -lt 100 ]; do "$0" calls 10 & i=$((i+1)); done; wait'
        value = int(self.counts(FEW, "sh", "-c", script, load()[0])["getppid"])
        self.assertGreaterEqual(value, 1000)
        self.assertLess(value, 1010)

    def test_repeats(self):
        rows = self.rows("-r", 3, "-e", FEW, *load("calls", 777))
        value = [r for r in rows if r[2] == "syscalls:sys_enter_getppid"][0]
        self.assertEqual(value[0], "777")
        self.assertEqual(value[3], "0.00%")

    def test_intervals(self):
        event = "syscalls:sys_enter_getppid"
        rows = self.rows_of_orders(event, "-I", 10, "-e", FEW, orders=20, calls=400)
        self.assertEqual(sum(int(r[1]) for r in rows if r[3] == event), 20 * 400)

    def test_attached(self):
        target = self.start_ready("onsignal", 0, 4321)
        child = self.start_stat("-x,", "-e", FEW, "-p", target.pid)
        wait_counting(child)
        target.send_signal(signal.SIGUSR1)
        text = child.communicate(timeout=LIMIT_S)[1]
        counts = {r[2]: r[0] for r in columns_of(text)}
        self.assertEqual(counts["syscalls:sys_enter_getppid"], "4321")

    def test_delay(self):
        # Calls before the counting starts do not count.
        rows = self.rows_around_delay(FEW, {"calls": 5000}, {"calls": 300})
        self.assertEqual(sum(int(r[1]) for r in rows if r[3] == "syscalls:sys_enter_getppid"), 300)

    def test_system(self):
        needs_system_wide()
        self.assertGreaterEqual(int(self.counts(FEW, "-a", *load("calls", 2000))["getppid"]), 2000)
        rows = self.rows("-a", "-A", "-e", FEW, *load("calls", 2000))
        mine = [r for r in rows if r[3] == "syscalls:sys_enter_getppid"]
        self.assertGreaterEqual(sum(int(r[1]) for r in mine), 2000)
        self.assertTrue(all(r[0].startswith("CPU") for r in mine))

    def test_other_tracepoints(self):
        counts = self.counts("sched:sched_process_*,syscalls:sys_enter_getppid", *load("forks", 7, 1))
        self.assertEqual(int(counts["sched:sched_process_fork"]), 7)

    def test_beside_other_events(self):
        rows = {r[2]: r[0] for r in self.rows("-e", "page-faults," + FEW, *load("calls", 99))}
        self.assertEqual(rows["syscalls:sys_enter_getppid"], "99")
        self.assertGreater(int(rows["page-faults"]), 5)

    def test_old_calls(self):
        """Calls by the 32-bit numbers must not be taken for others."""
        if os.uname().machine != "x86_64":
            self.skipTest("int 0x80 is of x86")
        path = compiled("old_calls", "int main(void){for(int i=0;i<50;i++){long r=64;"
                        "__asm__ volatile(\"int $0x80\":\"+a\"(r)::\"memory\",\"r8\",\"r9\",\"r10\",\"r11\");"
                        "if(r<=0)return 4;}return 0;}")
        if subprocess.run([path]).returncode:
            self.skipTest("this kernel has no 32-bit system calls")
        # 64 is getppid there, and semget here.
        self.assertEqual(self.counts(ALL, path)["semget"],
                         "%d" % self.count("syscalls:sys_enter_semget", path))


EXEC_FROM_THREAD_C = r"""
#include <pthread.h>
#include <unistd.h>
static void *leave(void *arg)
{
	execlp("dd", "dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=1000", "status=none", NULL);
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, leave, NULL);
	pthread_join(t, NULL);
	return 1;
}
"""


class Threads(Tally):
    def test_exec_from_another_thread(self):
        program = compiled("exec-from-thread", EXEC_FROM_THREAD_C, "-pthread")
        counts = self.counts("syscalls:sys_enter_w*", program)
        self.assertGreaterEqual(int(counts["write"]), 1000)

    def test_nothing_before_the_delay(self):
        counts = self.counts(ALL, "-D", LIMIT_S * 1000, *DD)
        self.assertFalse([n for n in counts.values() if n not in ("0", "<not counted>")], counts)


class Clean(Tally):
    def setUp(self):
        super().setUp()
        self.needs_tally()

    @staticmethod
    def programs_of(pid):
        """Ids of the BPF programs that a process holds; others of the machine are none of our business."""
        found = set()
        for fd in os.listdir("/proc/%d/fdinfo" % pid):
            try:
                with open("/proc/%d/fdinfo/%s" % (pid, fd)) as text:
                    found.update(int(n) for n in re.findall(r"^prog_id:\s*(\d+)", text.read(), re.M))
            except FileNotFoundError:
                pass
        return found

    def check_nothing_is_left(self, events, end):
        child = self.start_stat("-e", events, "cat", stdin=subprocess.PIPE)
        wait_counting(child)
        programs = self.programs_of(child.pid)
        self.assertTrue(programs)
        self.assertLessEqual(programs, bpf_programs())
        end(child)
        child.wait(timeout=LIMIT_S)
        self.assertTrue(eventually(lambda: not programs & bpf_programs()), "BPF programs are left behind")

    def test_few_are_enough(self):
        """One program counts all system calls: that is why it starts and ends at once."""
        child = self.start_stat("-e", ALL, "cat", stdin=subprocess.PIPE)
        wait_counting(child)
        self.assertLess(len(self.programs_of(child.pid)), 10)
        self.assertLess(len(os.listdir("/proc/%d/fd" % child.pid)), 50)

    def test_nothing_is_left(self):
        for events in (ALL, FEW):
            self.check_nothing_is_left(events, lambda child: child.stdin.close())

    def test_nothing_is_left_when_ended(self):
        self.check_nothing_is_left(FEW, lambda child: child.terminate())

    def test_nothing_is_left_when_killed(self):
        self.check_nothing_is_left(FEW, lambda child: child.kill())


class Without(Tally):
    """Where BPF cannot be used it takes longer, and the output says so."""
    SMALL = "syscalls:sys_enter_getp*id,syscalls:sys_enter_get*gid"

    def check(self, before, why):
        result = self.stat("-x,", "-e", self.SMALL, *load("calls", 1234), before=before)
        self.assertEqual(result.returncode, 0, result.stderr)
        counts = {r[2]: r[0] for r in columns_of(result.stderr)}
        self.assertEqual(counts["syscalls:sys_enter_getppid"], "1234")
        self.assertRegex(result.stderr, r"(?m)^# \d+ tracepoints are counted one by one \(.*%s.*\)" % why)

    def test_no_permission(self):
        needs_root("to give up capabilities")
        needs_program("capsh")
        if subprocess.run(["capsh", "--drop=cap_bpf,cap_sys_admin", "--", "-c", ":"],
                          stderr=subprocess.DEVNULL).returncode:
            self.skipTest("capabilities cannot be dropped here")
        self.check(["capsh", "--drop=cap_bpf,cap_sys_admin", "--", "-c", 'exec "$0" "$@"'],
                   "Operation not permitted")

    def test_pid_namespace(self):
        needs_root("for a pid namespace")
        needs_program("unshare")
        before = ["unshare", "-p", "-f", "--mount-proc"]
        if subprocess.run([*before, "true"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("pid namespaces are not allowed here")
        # --mount-proc leaves tracefs as it is
        self.check(before, "namespace")


if __name__ == "__main__":
    unittest.main()

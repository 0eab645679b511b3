#!/usr/bin/env python3
"""A run may last for days, beside builds that start one program after the other: what it has learnt of
those that are gone is given back, and still every sample gets its names."""

import os
import re
import subprocess

from helpers import LIMIT_S, compiled, eventually
from jit import jit_program
from server import ServerCase

SIDE_BY_SIDE = True

COPIES = 24
MIB = 1 << 20

# Functions with long names: symbols and lines of each copy take some megabytes when they are read.
FILLER = 1000
PROGRAM_C = r"""
#include <string.h>
#include <time.h>
volatile unsigned long sum;
#define BURN(name) __attribute__((noinline)) void name(void) \
{ for (int i = 0; i < 100000; i++) sum += i * 3; }
BURN(days_first)
BURN(days_later)
int main(int argc, char **argv)
{
	struct timespec t;

	do {
		if (argc > 1 && !strcmp(argv[1], "later"))
			days_later();
		else
			days_first();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_sec == 0 && t.tv_nsec < 50 * 1000 * 1000);
	return 0;
}
"""

WORK = """cd "$0" || exit 1
for i in $(seq %d); do ./copy$i first; done
while [ ! -e later ]; do sleep 0.1; done
./copy1 later && ./copy%d later
""" % (COPIES, COPIES)


def rss_bytes(pid):
    with open("/proc/%d/status" % pid) as text:
        return int(re.search(r"VmRSS:\s+(\d+) kB", text.read())[1]) * 1024


class LongRuns(ServerCase):
    def build(self):
        filler = "".join("void filler_%05d_%s(void) {}\n" % (i, "x" * 5000) for i in range(FILLER))
        source = self.write("program.c", (PROGRAM_C + filler).encode())
        first = os.path.join(os.path.dirname(source), "copy1")
        subprocess.run(["cc", "-g", "-O1", "-o", first, source], check=True, timeout=LIMIT_S)
        for i in range(2, COPIES + 1):
            subprocess.run(["cp", first, first[:-1] + str(i)], check=True)
        return os.path.dirname(source)

    def collector(self):
        """The one that names: a child of the server."""
        with open("/proc/%d/task/%d/children" % (self.server.pid(), self.server.pid())) as text:
            mine = text.read().split()
        for tid in os.listdir("/proc/%d/task" % self.server.pid()):
            with open("/proc/%d/task/%s/children" % (self.server.pid(), tid)) as text:
                mine += text.read().split()
        return int(mine[0])

    def test_programs_that_are_gone(self):
        directory = self.build()
        run = self.server.run(self.server.session(), ["sh", "-c", WORK, directory], tool="record",
                              sample={"events": ["cpu-clock:u"], "frequency": 1000})["uuid"]
        self.server.wait_state(run, "running")
        pid = self.collector()
        self.assertTrue(eventually(lambda: self.server.benchmark(run)["samples"] > COPIES * 40))
        # It had read some nine megabytes of each copy.
        self.assertTrue(eventually(lambda: rss_bytes(pid) < 150 * MIB),
                        "%d MiB" % (rss_bytes(pid) // MIB))
        # What was given back is read again.
        self.write("later", b"")
        self.assertEqual(self.server.wait_run(run)["state"], "done")
        folded = self.server.get_bytes("benchmark/%s.folded" % run).decode()
        later = [line for line in folded.splitlines() if "days_later" in line]
        self.assertGreater(sum(int(line.rpartition(" ")[2]) for line in later), 0)
        self.assertEqual({line.split(";")[0] for line in later}, {"copy1", "copy%d" % COPIES}, later)
        self.assertNotIn("[copy", folded)

    def test_code_beside_a_runtime_without_names(self):
        """Names of a runtime are looked for again and again: what was known of others stays."""
        program = compiled("days", PROGRAM_C, "-g", "-O1")
        run = self.server.run(self.server.session(),
                              ["sh", "-c", '"$0"; "$1" none - made 6500; "$0"', program, jit_program()],
                              tool="record", sample={"events": ["cpu-clock:u"], "frequency": 500})["uuid"]
        self.assertEqual(self.server.wait_run(run)["state"], "done")
        function = self.server.get("benchmark/%s/annotate" % run, {"function": "days_first"})["functions"][0]
        self.assertNotIn("problem", function)
        self.assertTrue(function["instructions"])

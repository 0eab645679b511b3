"""Programs that lie about themselves, by the build id of a good one: whoever names, unwinds or annotates
what ran in them says what is known, in bounded time and memory, and the server goes on."""

import os

import lying_elf
from helpers import compiled, eventually
from server import ServerCase

PROGRAM_C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
volatile unsigned long sum;
static inline __attribute__((always_inline)) void lie_inlined(int n)
{
	for (int i = 0; i < n; i++)
		sum += i * 3;
}
__attribute__((noinline)) void lie_hot(int depth)
{
	if (depth)
		lie_hot(depth - 1);
	else
		lie_inlined(600000);
	sum++;
}
int main(int argc, char **argv)
{
	struct timespec t;
	double end = argc > 1 ? atof(argv[1]) : 1;
	char text[64];

	puts("begun");
	fflush(stdout);
	do {
		lie_hot(3);
		snprintf(text, sizeof(text), "%d", argc);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_sec + t.tv_nsec / 1e9 < end);
	return 0;
}
"""
# Of the thousands that there are, so many at each run of the tests; all of them with LIES=all.
LIES = 90
SERVER_BYTES_MAX = 300 << 20
SECONDS_MAX = 60


class Lying(ServerCase):
    flags = ("-g", "-O1")

    def setUp(self):
        super().setUp()
        self.program = os.path.join(self.home, "lying")
        with open(compiled("lying" + "".join(self.flags), PROGRAM_C, *self.flags), "rb") as file:
            self.good = file.read()
        self.replace(self.good)
        recording = os.path.join(self.home, "recording.data")
        self.tacho("record", "-e", "cpu-clock:u", "-F", "300", "--call-graph", "dwarf,4096", "-o", recording, "--",
                   self.program, "0.15")
        with open(recording, "rb") as file:
            self.recording = file.read()
        self.session = self.server.session()

    def replace(self, data):
        if os.path.exists(self.program):
            os.unlink(self.program)
        with open(self.program, "wb") as file:
            file.write(data)
        os.chmod(self.program, 0o755)

    def ask(self, name):
        """Imports the recording, with the program as it is now, and asks all that needs it."""
        uuid = self.server.post("import", self.recording, query={"session": self.session, "name": "x"})["uuid"]
        run = self.server.wait_run(uuid, SECONDS_MAX)
        self.assertEqual(run["state"], "done", (name, run["error"]))
        self.assertGreater(run["samples"], 20, name)
        flame = self.server.get("benchmark/%s/flame" % uuid)
        self.assertEqual(flame["samples"], run["samples"], name)
        functions = self.server.get("benchmark/%s/functions" % uuid)["functions"]
        self.assertTrue(functions, name)
        hottest = max(functions, key=lambda f: f["self"])["name"]
        answer = self.server.request("GET", "benchmark/%s/annotate" % uuid, query={"function": hottest})
        self.assertIn(answer.status, (200, 404), (name, answer))
        if answer.status == 200:
            for function in answer.json()["functions"]:
                self.assertTrue(function.get("problem") or function["instructions"], (name, function))
        self.assertLess(self.server.rss_bytes(), SERVER_BYTES_MAX, name)
        return functions

    def ask_some(self, lies, count):
        lies = list(lies)
        every = 1 if os.environ.get("LIES") == "all" else max(1, len(lies) // count)
        for name, data in lies[every // 2::every]:
            with self.subTest(name):
                self.replace(data)
                self.ask(name)


class Fields(Lying):
    def test_truth(self):
        self.assertEqual(max(self.ask("good"), key=lambda f: f["self"])["name"], "lie_hot")

    def test_every_field(self):
        elf = lying_elf.Elf(self.good)
        for part in (lying_elf.headers, lying_elf.tables):
            self.ask_some(part(elf), LIES // 3)
        self.ask_some(lying_elf.beginnings(elf, 48), LIES // 3)
        self.ask_some(lying_elf.anywhere(elf, 200), LIES // 6)

    def test_cut_off(self):
        self.ask_some(lying_elf.cut(lying_elf.Elf(self.good)), 6)

    def test_what_is_not_a_file(self):
        for name, make in (("directory", os.mkdir), ("pipe", os.mkfifo), ("nothing", lambda path: None),
                           ("zeros", lambda path: os.symlink("/dev/zero", path)),
                           ("itself", lambda path: os.symlink(path, path))):
            with self.subTest(name):
                if os.path.lexists(self.program):
                    (os.rmdir if os.path.isdir(self.program) else os.unlink)(self.program)
                make(self.program)
                self.ask(name)


class Measure(Lying):
    """What would fill the memory, or take for ever."""

    def test_made(self):
        self.ask_some(lying_elf.made(lying_elf.Elf(self.good)), 1000)

    def test_holes(self):
        os.unlink(self.program)
        lying_elf.sparse_symbols(self.good, self.program, 1 << 42)
        self.ask("a table of symbols of 4 TiB")


class Packed(Lying):
    flags = ("-g", "-O1", "-gz=zlib")

    def test_every_field(self):
        elf = lying_elf.Elf(self.good)
        self.assertTrue(elf.flags(".debug_info") & lying_elf.SHF_COMPRESSED)
        self.ask_some(lying_elf.tables(elf), LIES // 3)


class WhileItRuns(Lying):
    def test_replaced(self):
        """The file is another one by the time that names are looked for."""
        for name, data in (("cut", self.good[:5000]), ("empty", b""), ("text", b"#!/bin/sh\nexit 0\n")):
            with self.subTest(name):
                self.replace(self.good)
                run = self.server.run(self.session, [self.program, "0.4"], tool="record",
                                      sample={"events": ["cpu-clock:u"], "frequency": 500, "callgraph": "dwarf"})
                self.assertTrue(eventually(
                    lambda: self.server.get_bytes("benchmark/%s.log" % run["uuid"]), 20))
                self.replace(data)
                run = self.server.wait_run(run["uuid"])
                self.assertEqual(run["state"], "done", run["error"])
                self.assertTrue(self.server.get("benchmark/%s/functions" % run["uuid"])["functions"])

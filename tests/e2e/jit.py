"""A small program that makes code at run time, and what the tests of JITs share."""

import os
import platform
import re
import unittest

from helpers import Case, compiled

# Makes a function that counts down, at one and the same address again and again, and runs each for
# so many milliseconds of CPU time. Modes: "map" names them in /tmp/perf-PID.map, the last one at
# that address wins; "dump" writes DIR/jit-PID.dump; "none" tells nobody. With $JIT_HELD it goes on until its
# input ends.
JIT_C = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int dump = -1;

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void put(const void *bytes, size_t size)
{
	if (write(dump, bytes, size) != (ssize_t)size)
		exit(3);
}

static void begin_dump(const char *dir)
{
	struct { uint32_t magic, version, size, machine, pad, pid; uint64_t time, flags; } h = {
		0x4a695444, 1, 40, 62, 0, getpid(), now(CLOCK_MONOTONIC), 0};
	char path[300];

	snprintf(path, sizeof(path), "%s/jit-%d.dump", dir, getpid());
	dump = open(path, O_CREAT | O_TRUNC | O_RDWR, 0644);
	if (dump < 0)
		exit(2);
	put(&h, sizeof(h));
	/* So that whoever watches mappings knows of it. */
	mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump, 0);
}


static void dump_code(void *code, size_t size, const char *name, uint64_t index)
{
	struct { uint32_t id, size; uint64_t time; uint32_t pid, tid; uint64_t vma, address, code,
		index; } h = {0, 56 + strlen(name) + 1 + size, now(CLOCK_MONOTONIC), getpid(),
		getpid(), (uintptr_t)code, (uintptr_t)code, size, index};

	put(&h, sizeof(h));
	put(name, strlen(name) + 1);
	put(code, size);
}

int main(int argc, char **argv)
{
	/* push rbp; mov rbp, rsp; mov ecx, 2000000; dec ecx; jnz -4; pop rbp; ret */
	static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xb9, 0x80, 0x84, 0x1e, 0x00,
					     0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3};
	const char *mode = argv[1];
	char *memory = mmap(0, 65536, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char map_path[64];
	FILE *map = NULL;

	alarm(300);
	if (!strcmp(mode, "dump"))
		begin_dump(argv[2]);
	snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", getpid());
	if (!strcmp(mode, "map"))
		map = fopen(map_path, "w");
	printf("%d\n", getpid());
	fflush(stdout);
	for (int i = 3; i + 1 < argc; i += 2) {
		uint64_t end = now(CLOCK_PROCESS_CPUTIME_ID) + atol(argv[i + 1]) * 1000000ull;
		void (*made)(void) = (void (*)(void))(memory + 256);

		memcpy(memory + 256, code, sizeof(code));
		if (dump >= 0)
			dump_code(memory + 256, sizeof(code), argv[i], i);
		if (map) {
			fprintf(map, "%lx %zx %s\n", (long)memory + 256, sizeof(code), argv[i]);
			fflush(map);
		}
		while (now(CLOCK_PROCESS_CPUTIME_ID) < end)
			made();
	}
	if (getenv("JIT_HELD"))
		getchar();
	return 0;
}
"""


def jit_program():
    if platform.machine() != "x86_64":
        raise unittest.SkipTest("the code that it makes is for x86_64")
    return compiled("jit", JIT_C)


class Stack:
    """One sample of `script`: its task, and (symbol, module) from the leaf on."""

    def __init__(self, block):
        lines = block.splitlines()
        self.head = lines[0].strip()
        self.frames = []
        for line in lines[1:]:
            match = re.match(r"\s*[0-9a-f]+ (.*) \((.*)\)$", line)
            if match:
                self.frames.append((match.group(1), match.group(2)))

    def names(self):
        return [name for name, _ in self.frames]


class JitCase(Case):
    def record(self, *args, status=0, **more):
        result = self.tacho("record", "-o", self.path("x.data"), *args, **more)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def script(self, *args):
        result = self.tacho("script", "-i", self.path("x.data"), *args)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def stacks(self):
        text = self.script("-F", "comm,tid,ip,sym,dso")
        return [Stack(block) for block in text.split("\n\n") if block.strip()]

    def leaves(self):
        """How often each symbol is the sampled one."""
        counts = {}
        for line in self.script("-F", "ip,sym", "-G").splitlines():
            name = line.strip().partition(" ")[2]
            counts[name] = counts.get(name, 0) + 1
        return counts

    def kept(self):
        """What was put into the cache."""
        top = self.path("cache", "tacho")
        return sorted(os.path.relpath(os.path.join(folder, name), top)
                      for folder, _, names in os.walk(top) for name in names)

    def forget_map(self, pid, now=False):
        """A map in the real /tmp is taken away with the test; @now: also that of an earlier process."""
        def remove():
            try:
                os.unlink("/tmp/perf-%d.map" % pid)
            except FileNotFoundError:
                pass
        self.addCleanup(remove)
        if now:
            remove()

"""Stacks unwound behind code without call frame information: no caller is made up, and how a stack ended is
not taken for a function by those who read our text."""

import json
import platform
import re
import unittest

from helpers import Case, compiled

# bare() has no call frame information and uses rbp for a place on the stack, whose second word, where a caller's
# address would be if rbp were a frame pointer, is an address of the heap or one inside of a function, as told.
BARE_C = r"""
#include <stdlib.h>
#include <string.h>
asm(".text\n.globl bare\n.type bare,@function\nbare:\n"
    "	push %rbp\n	sub $32,%rsp\n	mov %rsi,8(%rsp)\n	mov %rsp,%rbp\n"
    "1:	dec %rdi\n	jnz 1b\n	add $32,%rsp\n	pop %rbp\n	ret\n.size bare,.-bare\n"
    ".globl trap\n.type trap,@function\ntrap:\n	nop\n	nop\n	nop\n	nop\n	nop\n	nop\n	nop\n	nop\n"
    "	nop\n	nop\n	nop\n	nop\n	ret\n.size trap,.-trap\n"
    ".section .note.GNU-stack,\"\",@progbits\n.text\n");
void bare(long n, void *decoy);
void trap(void);
int main(int argc, char **argv)
{
	char *decoy = strcmp(argv[1], "heap") ? (char *)trap + 10 : (char *)malloc(1000) + 64;
	for (long i = 0; i < 100; i++)
		bare(1000000, decoy);
	return 0;
}
"""


class NoInformation(Case):
    def setUp(self):
        super().setUp()
        if platform.machine() != "x86_64":
            raise unittest.SkipTest("its code is that of x86-64")

    def record(self, decoy):
        path = self.path(decoy + ".data")
        result = self.tacho("record", "-q", "-e", "cpu-clock:u", "-F", "500", "--call-graph", "dwarf", "-o", path,
                            "--", compiled("bare", BARE_C, "-g"), decoy)
        self.assertEqual(result.returncode, 0, result.stderr)
        return path

    def samples(self, path):
        text = self.tacho("script", "--json", "-i", path).stdout
        found = [json.loads(line) for line in text.splitlines() if '"type":"SAMPLE"' in line]
        return [s for s in found if s["stack"][0]["function"] == "bare"]

    def test_no_caller_is_made_up(self):
        for decoy in "heap", "code":
            with self.subTest(decoy=decoy):
                path = self.record(decoy)
                # The loop of bare(), where rbp leads to the decoy.
                inside = [s for s in self.samples(path) if 13 <= s["stack"][0]["offset"] < 18]
                self.assertTrue(inside)
                for sample in inside:
                    self.assertEqual([f["function"] for f in sample["stack"]], ["bare"])
                    self.assertEqual(sample["stack_end"], "no unwind information")
                report = self.tacho("report", "-i", path, "--no-children").stdout
                self.assertNotIn("perf-", report)
                self.assertNotIn("trap", report)

    def test_text_has_only_functions(self):
        """How a stack ended is no line of script and no name in folded stacks; stderr and JSON tell it."""
        path = self.record("heap")
        cut = sum("stack_end" in s for s in self.samples(path))
        result = self.tacho("script", "-i", path)
        self.assertNotIn("no unwind information", result.stdout)
        self.assertNotRegex(result.stdout, r"(?m)^\s+0 ")
        self.assertRegex(result.stderr, r"stacks end before the outermost function \(no unwind information: \d+")
        self.assertGreaterEqual(int(re.search(r"information: (\d+)", result.stderr)[1]), cut)
        for command in (["flame", "--format", "folded"], ["convert", "--to", "folded", "-o", "-"]):
            with self.subTest(command=command):
                result = self.tacho(*command, "-i", path)
                self.assertNotIn("[", result.stdout)
                self.assertRegex(result.stdout, r"(?m)^bare;bare \d+$")
                self.assertRegex(result.stderr, r"stacks? ends? .*before the outermost function")
        # Our own views keep it, where it is drawn as what it is.
        self.assertIn("[no unwind information]", self.tacho("report", "-i", path).stdout)


if __name__ == "__main__":
    unittest.main()

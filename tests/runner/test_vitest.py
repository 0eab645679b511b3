"""The same rules for tests of the page: small files for Vitest that fail once, fail always, or hang."""

import os
import shutil
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from vitest import TOP, Vitest  # noqa: E402

# These wait more than they work.
SIDE_BY_SIDE = True

HEAD = """
import { existsSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
function first(name: string): boolean {
	const path = new URL(name, import.meta.url).pathname;
	const found = existsSync(path);
	writeFileSync(path, '');
	return !found;
}
"""
# Without limits of Vitest, as if it was stuck itself.
CONFIG = """
import { defineConfig } from 'vitest/config';
import { reporters } from '%s/tests/browser/outcomes';
export default defineConfig({
	test: { include: ['*.test.ts'], pool: 'forks', testTimeout: 0, reporters: reporters() },
});
"""


class Page(unittest.TestCase):
    def setUp(self):
        modules = os.path.join(TOP, "web", "node_modules")
        if not os.path.isdir(modules):
            self.skipTest("the page has not been built: no %s" % modules)
        self.folder = tempfile.mkdtemp(prefix="tacho-vitest-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        os.symlink(modules, os.path.join(self.folder, "node_modules"))
        self.file("vitest.config.ts", CONFIG % TOP)

    def file(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as out:
            out.write(text)

    def run_files(self, *names, repeat=True, hang_s=120):
        results = Vitest(self.folder, 2, hang_s, lambda _: None).run([[name] for name in names], repeat)
        return {one.name: (one.state, one.flaky) for one in results}

    def test_repeated(self):
        self.file("once.test.ts", HEAD + """
describe('a group (of two)', () => {
	test('fails once', () => expect(first('once')).toBe(false));
	test('is not repeated', () => expect(first('other')).toBe(true));
});
""")
        self.file("always.test.ts", HEAD + """
test('fails always', () => expect(1).toBe(2));
""")
        self.assertEqual(self.run_files("once.test.ts", "always.test.ts"), {
            "once.test.ts: a group (of two) > fails once": ("passed", True),
            "once.test.ts: a group (of two) > is not repeated": ("passed", False),
            "always.test.ts: fails always": ("failed", False)})

    def test_reason_of_a_skip(self):
        self.file("skips.test.ts", HEAD + """
test('needs much', ({ skip }) => skip('no tracefs here'));
""")
        found = Vitest(self.folder, 1, 120, lambda _: None).run([["skips.test.ts"]], repeat=False)
        self.assertEqual([(one.state, one.text) for one in found], [("skipped", "no tracefs here")])

    def test_hangs(self):
        """A promise that is not kept, and a loop in which Vitest itself is stuck: the name is that of the test if
        Vitest could tell it, and of the file otherwise."""
        self.file("promise.test.ts", HEAD + """
test('never ends', () => new Promise(() => {}));
""")
        self.file("loop.test.ts", HEAD + """
test('never ends', () => {
	for (;;);
});
""")
        results = self.run_files("promise.test.ts", "loop.test.ts", repeat=False, hang_s=30)
        self.assertEqual([name.split(":")[0] for name in results], ["promise.test.ts", "loop.test.ts"])
        self.assertEqual(list(results.values()), [("failed", False)] * 2)

    def test_cannot_be_loaded(self):
        self.file("load.test.ts", "import { nothing } from './nowhere';\nnothing();\n")
        results = self.run_files("load.test.ts", repeat=False)
        self.assertEqual(list(results.values()), [("failed", False)])


if __name__ == "__main__":
    unittest.main()

import { defineConfig } from 'vitest/config';
import { reporters } from '../tests/browser/outcomes';

/** Only what hangs takes so long: no test may fail because a machine is slow. */
const HANG_MS = Number(process.env.TACHO_HANG_S ?? 300) * 1000;

export default defineConfig({
	esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
	test: {
		include: ['test/**/*.test.ts'],
		environment: 'node',
		reporters: reporters(),
		testTimeout: HANG_MS,
		hookTimeout: HANG_MS,
	},
});

import { defineConfig } from 'vitest/config';
import { reporters } from './outcomes';

/** Only what hangs takes so long: no test may fail because a machine is slow. */
const HANG_MS = Number(process.env.TACHO_HANG_S ?? 600) * 1000;

export default defineConfig({
	test: {
		include: ['*.test.ts'],
		environment: 'node',
		pool: 'forks',
		reporters: reporters(),
		testTimeout: HANG_MS,
		hookTimeout: HANG_MS,
		teardownTimeout: 120_000,
	},
});

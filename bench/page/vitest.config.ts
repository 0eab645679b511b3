import { defineConfig } from 'vitest/config';

export default defineConfig({
	test: {
		include: ['*.bench.ts'],
		environment: 'node',
		pool: 'forks',
		// Measured while nothing else runs.
		fileParallelism: false,
		testTimeout: 300_000,
		hookTimeout: 300_000,
		teardownTimeout: 20_000,
	},
});

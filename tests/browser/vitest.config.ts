import { defineConfig } from 'vitest/config';
import { Failures } from './failures';

export default defineConfig({
	test: {
		include: ['*.test.ts'],
		environment: 'node',
		pool: 'forks',
		// A browser and a server for each file: two files keep two cores busy.
		poolOptions: { forks: { maxForks: 2, minForks: 1 } },
		testTimeout: 90_000,
		hookTimeout: 60_000,
		teardownTimeout: 20_000,
		reporters: ['verbose', new Failures()],
	},
});

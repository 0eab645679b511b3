/* `test` with a server and a browser for each file, and pages for each test:
 *
 *     test('what it shows', async ({ server, screens }) => {
 *         const { page } = await screens.open();
 *         …
 *     }); */
import type { Browser } from 'playwright-core';
import { test as plain } from 'vitest';
import { launch, Screens } from './page';
import { Server } from './server';

interface Fixtures {
	server: Server;
	browser: Browser;
	screens: Screens;
}

/** For tests that give people tokens with the role 'run': a server that runs programs as root gives none. */
export const RUN_TOKENS = process.getuid?.() === 0 ? ['--run-as', 'nobody'] : [];

/** @options: of `tacho serve`. */
export const testWith = (...options: string[]) =>
	plain.extend<Fixtures>({
		server: [
			async ({}, use) => {
				const server = new Server(options);
				try {
					await use(await server.start());
				} finally {
					await server.remove();
				}
			},
			{ scope: 'file' },
		],
		browser: [
			async ({}, use) => {
				const browser = await launch();
				await use(browser);
				await browser.close();
			},
			{ scope: 'file' },
		],
		screens: async ({ browser, server, task }, use) => {
			const screens = new Screens(browser, server);
			await use(screens);
			const problems = screens.problems();
			if (problems.length || task.result?.state === 'fail') {
				await screens.keep(task.name);
				if (server.stderr) console.error('the server said: ' + server.stderr);
			}
			await screens.close();
			if (problems.length) throw new Error('the page has complained:\n' + problems.join('\n'));
		},
	});

export const test = testWith();

export { expect } from 'vitest';

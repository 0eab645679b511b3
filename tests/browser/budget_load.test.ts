/* How much is loaded, and how soon one can do something. */
import type { Browser, Page } from 'playwright-core';
import { DESKTOP } from './page';
import { figure } from './figures';
import { expect, test } from './test';
import { until } from './wait';

const TRANSFERRED_KB = 150;
const INTERACTIVE_MS = 1000;

interface Loaded {
	path: string;
	bytes: number;
}

/** Everything that comes over the network, as large as it comes. */
async function watchNetwork(page: Page): Promise<Loaded[]> {
	const cdp = await page.context().newCDPSession(page);
	const paths = new Map<string, string>();
	const loaded: Loaded[] = [];
	cdp.on('Network.responseReceived', ({ requestId, response }) => {
		paths.set(requestId, new URL(response.url).pathname);
	});
	cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
		loaded.push({ path: paths.get(requestId) ?? '?', bytes: encodedDataLength });
	});
	await cdp.send('Network.enable');
	return loaded;
}

/** The script of the worker that tabs share is loaded for none of them. */
async function workerBytes(browser: Browser): Promise<Loaded[]> {
	const cdp = await browser.newBrowserCDPSession();
	const { targetInfos } = await cdp.send('Target.getTargets');
	await cdp.detach();
	const scripts = targetInfos.filter((one) => one.type === 'shared_worker').map((one) => one.url);
	return Promise.all(
		scripts.map(async (url) => {
			const answer = await fetch(url, { headers: { 'Accept-Encoding': 'gzip' } });
			return { path: new URL(url).pathname, bytes: Number(answer.headers.get('content-length')) };
		}),
	);
}

/** Runs before the page: notes when the first thing that one can press is on the screen. */
function noteFirstButton(): void {
	const look = () => {
		const button = document.querySelector('main button:not(:disabled), main input:not(:disabled)');
		if (button) (window as unknown as { usable: number }).usable = performance.now();
		else requestAnimationFrame(look);
	};
	requestAnimationFrame(look);
}

test('the first load is small and soon usable', async ({ server, browser, screens }) => {
	const context = await screens.context({ viewport: DESKTOP });
	await context.addInitScript(noteFirstButton);
	const blank = await context.newPage();
	const loaded = await watchNetwork(blank);
	await blank.goto(`${server.url}/?token=${server.token}`);
	const usable = await until('something can be pressed', () =>
		blank.evaluate(() => (window as unknown as { usable?: number }).usable),
	);
	await blank.waitForLoadState('load');
	const worker = await until('the worker is there', async () => {
		const scripts = await workerBytes(browser);
		return scripts.length && scripts;
	});
	const own = [...loaded.filter((one) => !one.path.startsWith('/api/')), ...worker];
	const kb = own.reduce((sum, one) => sum + one.bytes, 0) / 1000;
	expect(own.map((one) => one.path)).toContain('/');
	expect(own.length).toBeGreaterThan(2);
	figure(`first load, ${own.length} files`, kb, 'KB', TRANSFERRED_KB);
	figure('first load, until something can be pressed', usable, 'ms', INTERACTIVE_MS);
	await context.close();
});

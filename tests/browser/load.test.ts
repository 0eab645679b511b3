/* How much is loaded by a first visit: files and bytes. */
import type { Browser, Page } from 'playwright-core';
import { DESKTOP } from './page';
import { expect, test } from './test';
import { until } from './wait';

const TRANSFERRED_KB = 150;

interface Loaded {
	path: string;
	bytes: number;
}

interface Traffic {
	loaded: Loaded[];
	/** Paths that were asked for and have not come. */
	underway: Map<string, string>;
}

/** Everything that comes over the network, as large as it comes. */
async function watchNetwork(page: Page): Promise<Traffic> {
	const cdp = await page.context().newCDPSession(page);
	const underway = new Map<string, string>();
	const loaded: Loaded[] = [];
	cdp.on('Network.requestWillBeSent', ({ requestId, request }) => {
		underway.set(requestId, new URL(request.url).pathname);
	});
	cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
		loaded.push({ path: underway.get(requestId) ?? '?', bytes: encodedDataLength });
		underway.delete(requestId);
	});
	cdp.on('Network.loadingFailed', ({ requestId }) => underway.delete(requestId));
	await cdp.send('Network.enable');
	return { loaded, underway };
}

/** The list of sessions is there before the workbench is fetched, which waits for a moment without work.
 *  @apart: whose end nobody is told. */
async function allLoaded(page: Page, traffic: Traffic, apart: Loaded[]): Promise<void> {
	const { loaded, underway } = traffic;
	await until('nothing is on its way', async () => {
		await page.evaluate(() => new Promise((done) => requestIdleCallback(done)));
		const waiting = [...underway.values()].filter((path) => !apart.some((a) => a.path === path));
		return !waiting.length && loaded.some((one) => /\/workbench\b/.test(one.path));
	});
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

test('the first load is small', async ({ server, browser, screens }) => {
	const context = await screens.context({ viewport: DESKTOP });
	const blank = await context.newPage();
	const traffic = await watchNetwork(blank);
	await blank.goto(`${server.url}/?token=${server.token}`);
	const worker = await until('the worker is there', async () => {
		const scripts = await workerBytes(browser);
		return scripts.length && scripts;
	});
	await allLoaded(blank, traffic, worker);
	const own = [...traffic.loaded.filter((one) => !one.path.startsWith('/api/')), ...worker];
	const kb = own.reduce((sum, one) => sum + one.bytes, 0) / 1000;
	expect(own.map((one) => one.path)).toContain('/');
	expect(own.length).toBeGreaterThan(6);
	expect(kb, `kilobytes of ${own.length} files`).toBeLessThanOrEqual(TRANSFERRED_KB);
	await context.close();
});

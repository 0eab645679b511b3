/* The whole story: a first visit, the demo, live, a window, its cause, a comparison, the history, a link,
 * and everything is deleted again. */
import type { Page } from 'playwright-core';
import {
	addressOf,
	brush,
	command,
	drag,
	firstMove,
	flameSeconds,
	functions,
	listed,
	openView,
	runButton,
	start,
	watchGrowth,
	type Part,
} from './actions';
import type { Screens } from './page';
import type { Server } from './server';
import { expect, test } from './test';
import { until } from './wait';

/** Profiles the demo and watches it; the id of its run. */
async function watchDemo(page: Page): Promise<string> {
	const moved = firstMove(page);
	const grew = await watchGrowth(page);
	await page.getByRole('button', { name: /demo/i }).click();
	await moved;
	await until('the flame graph grows', grew);
	return addressOf(page).get('run')!;
}

/** Functions of what is selected, the heaviest first. */
async function heaviest(page: Page): Promise<string[]> {
	await functions(page).getByRole('row').nth(1).waitFor();
	return functions(page).getByRole('row').locator('code').allInnerTexts();
}

/** Where the samples of a run lie on the timeline: from one part of them to another one. */
async function spread(server: Server, run: string): Promise<(from: number, to: number) => Part> {
	const times = await server.sampleTimes(run);
	const { to_ns } = await server.get<{ to_ns: number }>(`benchmark/${run}/timeline?pixels=1`);
	const at = (part: number) => times[Math.floor(times.length * part)]! / to_ns;
	return (from, to) => [at(from), at(to)];
}

async function brushAndCompare(page: Page, server: Server, run: string): Promise<void> {
	const part = await spread(server, run);
	// The page has heard that the run has ended.
	await page.getByRole('button', { name: 'Run again' }).waitFor();
	await openView(page, 'Functions');
	const all = await heaviest(page);
	await openView(page, 'Flame graph');
	const { total } = await server.get<{ total: number }>(`benchmark/${run}/flame`);
	const whole = total / 1e9;
	await until('the flame graph is of the whole run', async () => {
		return Math.abs((await flameSeconds(page)) - whole) < 0.01 * whole;
	});

	for (const from of [0.1, 0.3, 0.5]) await brush(page, part(from, from + 0.15));
	await until('it is of the window', async () => {
		const seconds = await flameSeconds(page);
		return seconds > 0 && seconds < whole / 2;
	});

	await openView(page, 'Functions');
	await until('the functions are those of the window', async () => {
		return (await heaviest(page)).join() !== all.join();
	});

	await drag(page, part(0.75, 0.9), ['Shift']);
	await until('there is a second window', () => addressOf(page).get('second'));
	await openView(page, 'Diff');
	await page.getByRole('tree', { name: /changed/ }).waitFor();
}

/** A second run by the form; then the first one is opened again, its settings are there and run. */
async function history(page: Page, server: Server, first: string): Promise<string> {
	const demo = await command(page).inputValue();
	const second = await start(page, 'find /usr/share/doc -name "*.gz"');
	await server.ends(second);
	await listed(page, first).getByRole('link').first().click();
	await until('the first run is open', () => addressOf(page).get('run') === first);
	const putBack = async () => (await command(page).inputValue()) === demo;
	await until('its settings are in the form', putBack);
	await page.reload();
	await until('they are after a reload, too', putBack);
	await runButton(page).click();
	const third = await until('it runs again', () => {
		const run = addressOf(page).get('run');
		return run !== first && run;
	});
	expect((await server.facts(third)).argv).toEqual((await server.facts(first)).argv);
	await server.ends(third);
	return third;
}

async function compareRuns(page: Page, a: string, b: string): Promise<void> {
	await listed(page, a)
		.getByRole('button', { name: /^Pin .* as A$/ })
		.click();
	await listed(page, b)
		.getByRole('button', { name: /^Pin .* as B$/ })
		.click();
	await page.getByRole('link', { name: 'Compare A and B' }).click();
	await page.getByRole('tree', { name: /changed/ }).waitFor();
	expect(addressOf(page).get('a')).toBe(a);
	expect(addressOf(page).get('b')).toBe(b);
}

/** The link of what is on the screen shows the same to somebody else. */
async function share(page: Page, server: Server, screens: Screens): Promise<void> {
	await openView(page, 'Flame graph');
	await brush(page, (await spread(server, addressOf(page).get('run')!))(0.2, 0.4));
	await openView(page, 'Functions');
	await until('the functions are there', () => heaviest(page));
	await page.getByRole('button', { name: 'Share' }).click();
	const link = await page.evaluate(() => navigator.clipboard.readText());
	expect(link).toBe(page.url());
	const { page: other } = await screens.open({ path: link.slice(server.url.length) });
	await functions(other).waitFor();
	await until('both see the same', async () => {
		return (await heaviest(other)).join() === (await heaviest(page)).join();
	});
	expect(addressOf(other).get('window')).toBe(addressOf(page).get('window'));
}

async function remove(page: Page, server: Server, run: string): Promise<void> {
	const act = async () => {
		await listed(page, run)
			.getByRole('button', { name: /^More about/ })
			.click();
		const item = page.getByRole('menuitem', { name: 'Delete' });
		await item.hover();
		// The message stays until it is answered, as if the focus were in it. The menu does not hear of it.
		const messages = page.getByRole('region', { name: 'Messages' });
		await messages.dispatchEvent('focusin', { bubbles: false });
		await item.click();
		await listed(page, run).waitFor({ state: 'detached' });
	};
	await act();
	await page.getByRole('button', { name: 'Undo' }).click();
	await listed(page, run).waitFor();
	expect((await server.answer('benchmark/' + run)).status, 'it is still there').toBe(200);
	await act();
	// Older messages wait, too.
	await page
		.getByRole('region', { name: 'Messages' })
		.getByRole('status')
		.filter({ has: page.getByRole('button', { name: 'Undo' }) })
		.getByRole('button', { name: 'Dismiss' })
		.click();
	await until('it is gone', async () => (await server.answer('benchmark/' + run)).status === 404);
}

test('the whole story', { timeout: 900_000 }, async ({ server, screens }) => {
	const { page } = await screens.open();
	const first = await watchDemo(page);
	await server.ends(first);
	await brushAndCompare(page, server, first);
	const third = await history(page, server, first);
	await compareRuns(page, first, third);
	await share(page, server, screens);
	await remove(page, server, third);
});

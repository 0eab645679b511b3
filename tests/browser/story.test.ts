/* The whole story: a first visit, the demo, live, a window, its cause, a comparison, the history, a link,
 * and everything is deleted again. */
import type { Page } from 'playwright-core';
import {
	addressOf,
	brush,
	command,
	drag,
	firstMove,
	flameDrawn,
	flameSeconds,
	form,
	functions,
	openView,
	runButton,
	start,
} from './actions';
import { figure } from './figures';
import type { Screens } from './page';
import type { Server } from './server';
import { expect, test } from './test';
import { until } from './wait';

/** Generous: the machine may do something else as well. What it took is printed. */
const FIRST_MOVE_MS = 5000;
const BRUSH_MS = 1000;

/** Profiles the demo and watches it; the id of its run. */
async function watchDemo(page: Page): Promise<string> {
	const moved = firstMove(page);
	await page.getByRole('button', { name: /demo/i }).click();
	figure('from Run to the first moving line', await moved, 'ms', FIRST_MOVE_MS);
	const few = await until('samples have come', () => flameSeconds(page));
	await until('the flame graph grows', async () => (await flameSeconds(page)) > few);
	return addressOf(page).get('run')!;
}

/** Functions of what is selected, the heaviest first. */
async function listed(page: Page): Promise<string[]> {
	await functions(page).getByRole('row').nth(1).waitFor();
	return functions(page).getByRole('row').locator('code').allInnerTexts();
}

async function brushAndCompare(page: Page): Promise<void> {
	await openView(page, 'Functions');
	const all = await listed(page);
	await openView(page, 'Flame graph');
	await flameDrawn(page);
	const whole = await flameSeconds(page);

	const times: number[] = [];
	for (const from of [0.1, 0.25, 0.4]) times.push(await brush(page, [from, from + 0.15]));
	figure('from releasing the brush to the flame graph', Math.max(...times), 'ms', BRUSH_MS);
	expect(await flameSeconds(page)).toBeLessThan(whole);

	await openView(page, 'Functions');
	await until('the functions are those of the window', async () => {
		const now = await listed(page);
		return now.length && now.join() !== all.join();
	});

	await openView(page, 'Diff');
	await drag(page, [0.6, 0.75], ['Shift']);
	await until('there is a second window', () => addressOf(page).get('second'));
	await page.getByRole('tree').waitFor();
}

/** A second run by the form; then the first one is opened again, its settings are there and run. */
async function history(page: Page, server: Server, first: string): Promise<string> {
	const demo = await command(page).inputValue();
	const second = await start(page, 'find /usr/share/doc -name "*.gz"');
	await server.reaches(second, 'done');
	await page.getByRole('region', { name: 'Runs' }).getByText('Demo').first().click();
	await until('the first run is open', () => addressOf(page).get('run') === first);
	await until('its settings are in the form', async () => {
		return (await command(page).inputValue()) === demo;
	});
	await page.reload();
	expect(await command(page).inputValue()).toBe(demo);
	await runButton(page).click();
	const third = await until('it runs again', () => {
		const run = addressOf(page).get('run');
		return run !== first && run;
	});
	expect((await server.facts(third)).argv).toEqual((await server.facts(first)).argv);
	await server.reaches(third, 'done');
	return third;
}

test('the whole story', { timeout: 150_000 }, async ({ server, screens }) => {
	const { page } = await screens.open();
	const first = await watchDemo(page);
	await server.reaches(first, 'done');
	await brushAndCompare(page);
	await history(page, server, first);
	expect(form(page)).toBeTruthy();
	void screens;
});

export type { Screens };

/* The main story without a mouse: the demo, a window, a second one, what is different, the functions. */
import type { Page } from 'playwright-core';
import { addressOf, functions, timeline, views } from './actions';
import { expect, test } from './test';
import { until } from './wait';

const TABS_MAX = 120;

/** Presses Tab until @what has the focus: so it can be reached, and focus can be seen to move. */
async function tabTo(page: Page, what: string, is: (focused: string) => boolean): Promise<void> {
	const passed: string[] = [];
	for (let i = 0; i < TABS_MAX; i++) {
		await page.keyboard.press('Tab');
		const name = await page.evaluate(() => {
			const e = document.activeElement as HTMLElement | null;
			const label = e?.getAttribute('aria-label') ?? e?.innerText ?? '';
			return `${e?.getAttribute('role') ?? e?.localName} ${label}`.trim();
		});
		if (is(name)) return;
		passed.push(name.slice(0, 40));
	}
	throw new Error(`${what} cannot be reached by Tab, only: ${passed.join(' | ')}`);
}

async function press(page: Page, ...keys: string[]): Promise<void> {
	for (const key of keys) await page.keyboard.press(key);
}

function times(n: number, key: string): string[] {
	return Array.from({ length: n }, () => key);
}

test('everything by keyboard', { timeout: 600_000 }, async ({ server, screens }) => {
	const { page } = await screens.open();
	await page.getByRole('button', { name: /demo/i }).waitFor();
	await tabTo(page, 'the demo', (name) => /^button .*demo/i.test(name));
	await press(page, 'Enter');
	const run = await until('the demo runs', () => addressOf(page).get('run'));
	await server.ends(run);
	await views(page).waitFor();
	await page.getByRole('button', { name: 'Run again' }).waitFor();

	await tabTo(page, 'the timeline', (name) => name.startsWith('application'));
	await press(page, 'Home', 'PageDown', '[', 'PageDown', 'PageDown', ']');
	await until('a window is set', () => addressOf(page).get('window'));
	await press(page, 'PageDown', '{', 'PageDown', 'PageDown', '}');
	await until('a second window is set', () => addressOf(page).get('second'));
	expect(await timeline(page).getAttribute('aria-label')).toMatch(/Second window/);

	await tabTo(page, 'the differential', (name) => name === 'a Diff');
	await press(page, 'Enter');
	await page.getByRole('tree', { name: /changed/ }).waitFor();
	await tabTo(page, 'the graph', (name) => name.startsWith('tree'));
	await press(page, 'ArrowUp', 'ArrowUp', 'ArrowUp', 'Enter');
	await until('it is zoomed', () => addressOf(page).get('focus'));

	await press(page, ...times(2, 'Escape'));
	await views(page).getByRole('link', { name: 'Diff' }).focus();
	await press(page, 'Shift+Tab');
	await press(page, 'Enter');
	await functions(page).getByRole('row').nth(1).waitFor();
	await tabTo(page, 'the table', (name) => /^(grid|row)/.test(name));
	await press(page, 'ArrowDown', 'Enter');
	await until('the function is shown in the graph', () => addressOf(page).get('search'));
	await press(page, '?');
	await page.getByRole('dialog').waitFor();
	await press(page, 'Escape');
	await page.getByRole('dialog').waitFor({ state: 'hidden' });
});

test('what is typed before the search is there is searched, and does nothing else', async ({
	server,
	screens,
}) => {
	const session = await server.session('typing ahead');
	const { uuid } = await server.run(session, { workload: 'true', tool: 'stat' });
	await server.reaches(uuid, 'done');
	const { page } = await screens.open({ path: `/?session=${session}&run=${uuid}` });
	await views(page).waitFor();
	let arrive = () => {};
	const loading = new Promise<void>((done) => (arrive = done));
	await page.route(/assets\/palette-.*\.js/, async (route) => {
		await loading;
		await route.continue();
	});
	// Each of them is a key of the page: run it again, light or dark, all sessions.
	await press(page, 'Control+k', 'r', 't', 'h');
	arrive();
	await until('the search has it', async () => {
		const field = page.getByRole('combobox', { name: /^Search runs/ });
		return (await field.isVisible()) && (await field.inputValue()) === 'rth';
	});
	expect(addressOf(page).get('run')).toBe(uuid);
	const { runs } = await server.get<{ runs: unknown[] }>(`session/${session}`);
	expect(runs.length).toBe(1);
});

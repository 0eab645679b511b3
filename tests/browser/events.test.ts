/* The hits of a tracepoint with their fields: rows, order, a condition, groups, a histogram. */
import { readdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import type { TestContext } from 'vitest';
import { addressOf, command, form, openView, settled, views } from './actions';
import { expectAccessible } from './axe';
import type { RunFacts, Server } from './server';
import { expect, test } from './test';
import { until } from './wait';

const EVENT = 'syscalls:sys_enter_getpriority';
const CALLS = 1000;
/** `which` is 0, 1, 2, 0 …; `who` is 0 to 4. */
const PROGRAM = `perl -e 'getpriority($_ % 3, $_ % 5) for 0..${CALLS - 1}'`;

/** The numbers of tracepoints are files that not every machine shows. */
function needsTracepoints(skip: TestContext['skip']): void {
	try {
		readdirSync('/sys/kernel/tracing/events/syscalls/sys_enter_getpriority');
	} catch {
		skip('needs tracefs with system calls, readable (mounted on /sys/kernel/tracing)');
	}
}

async function measure(server: Server): Promise<{ run: RunFacts; session: string }> {
	const session = await server.session('events');
	const { uuid } = await server.run(session, {
		workload: PROGRAM,
		tool: 'record',
		sample: { events: [EVENT], period: 1, callgraph: 'none' },
	});
	return { run: await server.reaches(uuid, 'done', 'failed'), session };
}

const grid = (page: Page) => page.getByRole('grid', { name: `Rows of ${EVENT}` });
const status = (page: Page) => page.locator('.events-bar').getByRole('status');
const condition = (page: Page) => page.getByLabel('Show rows that meet this condition');

/** The numbers in a column of the rows on the screen, from the first row on. */
async function valuesOf(page: Page, name: string): Promise<number[]> {
	const headings = await grid(page).getByRole('columnheader').allInnerTexts();
	const at = headings.findIndex((text) => text.replace(/[▾▴]/, '').trim() === name);
	const cells = grid(page).locator(`[role=gridcell][data-column="${at}"]`);
	return (await cells.allInnerTexts()).map(Number);
}

async function says(page: Page, text: string): Promise<void> {
	await until(`the bar says “${text}”`, async () => (await status(page).innerText()) === text);
	await settled(page);
}

test('from rows to a group and its distribution', async ({ server, screens, skip }) => {
	needsTracepoints(skip);
	const { run, session } = await measure(server);
	if (run.state === 'failed') skip(`cannot sample a tracepoint here: ${String(run.error)}`);
	expect(run.samples).toBe(CALLS);
	const { page } = await screens.open({ path: `/?session=${session}&run=${run.uuid}` });
	await openView(page, 'Events');
	await says(page, '1,000 rows');
	expect(await grid(page).getAttribute('aria-rowcount')).toBe(String(CALLS + 1));
	expect(await grid(page).getByRole('row').count(), 'only what fits').toBeLessThan(100);
	await expectAccessible(page, 'rows of events');

	// What is the same in all rows is hidden.
	const headings = async () => (await grid(page).getByRole('columnheader').allInnerTexts()).join();
	expect(await headings()).toMatch(/^time\W+,thread,.*which.*who/s);
	expect(await headings()).not.toMatch(/weight|address|__syscall_nr/);

	await page.getByRole('button', { name: /^Columns/ }).click();
	await page.getByRole('dialog', { name: 'Columns of the table' }).getByLabel('weight').check();
	await page.keyboard.press('Escape');
	await until('the column is shown', async () => /weight/.test(await headings()));
	expect(addressOf(page).get('columns')).toBe('time,weight,thread,which,who');

	const who = grid(page).getByRole('columnheader', { name: /^who/ });
	await who.getByRole('button').click();
	await until('the largest come first', async () => (await valuesOf(page, 'who'))[0] === 4);
	expect(await who.getAttribute('aria-sort')).toBe('descending');
	await who.getByRole('button').click();
	await until('the least come first', async () => (await valuesOf(page, 'who'))[0] === 0);
	expect(addressOf(page).get('sort')).toBe('who.up');

	// The end of the table is fetched when it is scrolled to.
	await grid(page).focus();
	await page.keyboard.press('End');
	await until('the last row is there', async () => (await valuesOf(page, 'who')).at(-1) === 4);

	await page.keyboard.press('Home');
	await until('the first row is marked', async () =>
		(await grid(page).getAttribute('aria-activedescendant'))?.includes('-0-'),
	);
	const first = (await valuesOf(page, 'which'))[0]!;
	await grid(page)
		.locator('[data-row="0"]')
		.filter({ hasText: new RegExp(`^${first}$`) })
		.first()
		.click();
	await until('the condition is set', async () =>
		/^wh\w+ == \d$/.test(await condition(page).inputValue()),
	);
	await condition(page).fill('which == 1');
	await condition(page).press('Enter');
	await says(page, '333 of 1,000 rows');
	expect(new Set(await valuesOf(page, 'which'))).toEqual(new Set([1]));

	// A link leads to the same.
	await page.reload();
	await says(page, '333 of 1,000 rows');
	expect(await condition(page).inputValue()).toBe('which == 1');

	await page.getByRole('radio', { name: 'Groups' }).click();
	await page.getByLabel('Group by').selectOption('who');
	await page.getByLabel('Statistics of').selectOption('which');
	const groups = page.getByRole('grid', { name: 'Rows grouped by who' });
	await until('there are five groups', async () => (await groups.getByRole('row').count()) === 6);
	await settled(page);
	await expectAccessible(page, 'groups of events');
	await groups.getByRole('row').filter({ hasText: /^3/ }).click();
	await until(
		'the group is a condition',
		async () => (await condition(page).inputValue()) === 'which == 1 && who == 3',
	);

	await page.goBack();
	await groups.waitFor();
	await condition(page).fill('');
	await says(page, '1,000 rows');
	await page.getByRole('radio', { name: 'Histogram' }).click();
	await page.getByLabel('Values of').selectOption('who');
	await page.getByRole('group', { name: /^who: half of 1,000 rows are below 2/ }).waitFor();
	await page.getByRole('radio', { name: 'Flame graph' }).click();
	await page.getByLabel('Sum of').selectOption('which');
	await page.getByRole('tree', { name: /^Flame graph of which of / }).waitFor();
	await page.getByText('1,000 rows, 999 of which', { exact: true }).waitFor();
	await says(page, '1,000 rows');
	await settled(page);
	await expectAccessible(page, 'flame graph of events');
	await page.getByRole('radio', { name: 'Functions first' }).click();
	await until('the mode is in the address', () => addressOf(page).get('mode') === 'inverted');

	await page.getByRole('radio', { name: 'Heat map' }).click();
	await page.getByLabel('Values of').selectOption('who');
	const heat = page.getByRole('application', {
		name: 'Heat map of who: 1,000 rows with values from 0 to 4',
	});
	await heat.waitFor();
	await expectAccessible(page, 'heat map of events');
	await heat.focus();
	for (const key of ['ArrowRight', 'ArrowUp', 'Enter']) await page.keyboard.press(key);
	await until('a window is set', () => addressOf(page).get('window'));
});

test('a wrong condition is shown with its place', async ({ server, screens, skip }) => {
	needsTracepoints(skip);
	const { run, session } = await measure(server);
	if (run.state === 'failed') skip(`cannot sample a tracepoint here: ${String(run.error)}`);
	const path = `/?session=${session}&run=${run.uuid}&view=events`;
	const screen = await screens.open({ path });
	screen.expect(/status of 400/);
	const { page } = screen;
	await says(page, '1,000 rows');
	await condition(page).fill('who == 1 && whch == 2');
	await condition(page).press('Enter');
	const marked = page.getByLabel('The text with its wrong place');
	await marked.waitFor();
	const [shown, mark] = (await marked.innerText()).split('\n');
	expect(shown!.slice(mark!.indexOf('^'))).toBe('whch == 2');
	expect(await condition(page).getAttribute('aria-invalid')).toBe('true');
	await expectAccessible(page, 'a wrong condition');
	await condition(page).fill('who == 9');
	await condition(page).press('Enter');
	await page.getByText('The selection contains no rows.').waitFor();
	await page.getByRole('button', { name: 'Clear the condition' }).click();
	await says(page, '1,000 rows');
});

test('runs without tables have no such view', async ({ server, screens }) => {
	const session = await server.session('none');
	const plan = { workload: 'true', tool: 'stat', events: ['task-clock'] };
	const { uuid } = await server.run(session, plan);
	await server.reaches(uuid, 'done');
	const { page } = await screens.open({ path: `/?session=${session}&run=${uuid}&view=output` });
	await settled(page);
	expect(await views(page).getByRole('link', { name: 'Events' }).count()).toBe(0);
});

test('the form has the filter of tracepoints', async ({ server, screens, skip }) => {
	needsTracepoints(skip);
	const { run, session } = await measure(server);
	if (run.state === 'failed') skip(`cannot sample a tracepoint here: ${String(run.error)}`);
	const screen = await screens.open({ path: `/?session=${session}&run=${run.uuid}` });
	screen.expect(/status of 400/);
	const { page } = screen;
	const filter = form(page).getByLabel('Filter of tracepoints');
	await until('the form is of the run', async () => (await command(page).inputValue()) === PROGRAM);
	await filter.fill('whch == 1');
	const runButton = form(page).getByRole('button', { name: 'Run', exact: true });
	await runButton.click();
	await form(page).getByLabel('The text with its wrong place').waitFor();
	await filter.fill('which == 1');
	await runButton.click();
	const second = await until('the new run is open', () => {
		const now = addressOf(page).get('run');
		return now !== run.uuid && now;
	});
	const facts = await server.reaches(second, 'done', 'failed');
	expect(facts.samples).toBe(333);
	expect(await filter.inputValue()).toBe('which == 1');
	await form(page).getByText('Command line').click();
	await form(page).getByText("--filter 'which == 1'").waitFor();
});

/* What goes wrong around the page: slow and failing servers, links to what is not there, browsers that keep
 * nothing, others who delete. Each has to be said, with a way on, and nothing of another run may be shown. */
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { addressOf, flame, flameDrawn, listed, openView, runButton } from './actions';
import { expectAccessible } from './axe';
import type { Server } from './server';
import { expect, test } from './test';
import { until } from './wait';

const REFUSED = /Failed to load resource/;
const BUSY = 'i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done';

async function measured(server: Server, session: string, description: string): Promise<string> {
	const plan = { workload: BUSY, shell: true, tool: 'record', description };
	const sample = { events: ['cpu-clock'], frequency: 999, callgraph: 'fp' };
	const { uuid } = await server.run(session, { ...plan, sample });
	expect((await server.reaches(uuid, 'done', 'failed')).samples).toBeGreaterThan(0);
	return uuid;
}

/** Every answer to the page is an error until the result is called. */
async function failing(page: Page, status: number): Promise<() => void> {
	let on = true;
	const error = { status, code: 'broken', message: 'The disk is on fire.' };
	await page.route(/\/api\/v1\/(?!live)/, (route) =>
		on ? route.fulfill({ status, json: { error } }) : route.continue(),
	);
	return () => (on = false);
}

test('while the answer is slow, nothing of the run before is shown', async ({
	server,
	screens,
}) => {
	const session = await server.session('slow');
	const [first, second] = [
		await measured(server, session, 'first'),
		await measured(server, session, 'second'),
	];
	const { page } = await screens.open({ path: `/?run=${first}` });
	await flameDrawn(page);
	let release = () => {};
	const held = new Promise<void>((done) => (release = done));
	await page.route(`**/benchmark/${second}/flame**`, async (route) => {
		await held;
		await route.continue();
	});
	await listed(page, second).getByRole('link').first().click();
	await page.getByText('Adding up the samples').waitFor();
	expect(await flame(page).count()).toBe(0);
	release();
	await flame(page).waitFor();
});

for (const status of [500, 507])
	test(`an error ${status} is said, and asked again about`, async ({ server, screens }) => {
		const session = await server.session('failing');
		const [first, second] = [
			await measured(server, session, 'first'),
			await measured(server, session, 'second'),
		];
		const screen = await screens.open({ path: `/?run=${first}` });
		screen.expect(REFUSED);
		const { page } = screen;
		await flameDrawn(page);
		const repaired = await failing(page, status);
		await listed(page, second).getByRole('link').first().click();
		await page.getByText('The disk is on fire.').first().waitFor();
		expect(await flame(page).count()).toBe(0);
		repaired();
		await page.getByRole('button', { name: 'Try again' }).first().click();
		await flame(page).waitFor();
		await page.getByText('The disk is on fire.').first().waitFor({ state: 'hidden' });
	});

test('a page that was opened while the server failed comes to life', async ({
	server,
	screens,
}) => {
	const run = await measured(server, await server.session('cold'), 'cold');
	const screen = await screens.open();
	screen.expect(REFUSED);
	const { page } = screen;
	const repaired = await failing(page, 500);
	await page.goto(`${server.url}/?run=${run}`);
	await page.getByText('The disk is on fire.').waitFor();
	repaired();
	await page.getByRole('button', { name: 'Try again' }).click();
	await flame(page).waitFor();
	await runButton(page).waitFor();
});

test('a database that is taken away is told of, also to who does nothing', async ({
	server,
	screens,
}) => {
	const session = await server.session('taken away');
	const database = join(server.home, 'store', 'tacho.db');
	const { page } = await screens.open({ path: `/?session=${session}` });
	await page.getByRole('form', { name: 'New run' }).waitFor();
	expect(await page.getByRole('alert').count()).toBe(0);
	renameSync(database, database + '.away');
	try {
		const warning = page.getByRole('alert').filter({ hasText: 'was deleted or replaced' });
		await warning.waitFor();
		await expectAccessible(page, 'a warning of the server');
	} finally {
		renameSync(database + '.away', database);
	}
	await page.getByRole('alert').waitFor({ state: 'hidden' });
});

test('links to what is not there lead on', async ({ server, screens }) => {
	const session = await server.session('links');
	const run = await measured(server, session, 'linked');
	const screen = await screens.open({
		path: `/?run=${run}&frames=((&zoom=900000000000-990000000000`,
	});
	screen.expect(REFUSED);
	const { page } = screen;
	await page.getByText('is no regular expression').first().waitFor();
	await page.getByRole('button', { name: 'Remove the filters' }).first().click();
	await flame(page).waitFor();
	await page.getByRole('application', { name: /^Timeline/ }).waitFor();
	expect(await page.getByRole('alert').count()).toBe(0);
	await page.goto(`${server.url}/?session=${session}&run=00000000-0000-4000-8000-000000000000`);
	await page.getByText('Run or session not found').waitFor();
	await page.getByRole('button', { name: 'Other runs of the session' }).click();
	await page.getByText('No run is open').waitFor();
	await page.goto(`${server.url}/?run=${run}&view=diff&a=nobody&b=${run}`);
	await page.getByRole('button', { name: 'Choose other runs' }).click();
	expect(addressOf(page).get('a')).toBeNull();
});

test('a run that somebody else deletes is not waited for', async ({ server, screens }) => {
	const session = await server.session('deleted');
	const [first, second] = [
		await measured(server, session, 'first'),
		await measured(server, session, 'second'),
	];
	const screen = await screens.open({ path: `/?run=${second}` });
	screen.expect(REFUSED);
	const { page } = screen;
	await flameDrawn(page);
	await openView(page, 'Functions');
	await server.answer('benchmark/' + second, { method: 'DELETE' });
	await page.getByText('Somebody has deleted the run').waitFor();
	await listed(page, first).getByRole('link').first().click();
	await page.goBack();
	await page.goBack();
	await page.getByText('Run or session not found').waitFor();
});

test('a browser that keeps and shares nothing will do', async ({ server, screens }) => {
	const run = await measured(server, await server.session('private'), 'private');
	const context = await screens.context();
	await context.addInitScript(() => {
		const refuse = () => {
			throw new DOMException('Access is denied', 'SecurityError');
		};
		for (const name of ['localStorage', 'sessionStorage'])
			Object.defineProperty(window, name, { get: refuse });
		Object.assign(window, { SharedWorker: refuse });
	});
	const { page } = await screens.tab(context, { path: `/?run=${run}` });
	await flame(page).waitFor();
	await page.getByRole('button', { name: /dark|light/i }).click();
	await page.locator('html[data-theme=dark]').waitFor();
});

test('a view that was left asks no more', async ({ server, screens }) => {
	const session = await server.session('left');
	const { uuid } = await server.run(session, {
		workload: 'sleep 300',
		tool: 'both',
		// If this fails, the next test need not wait for it.
		exclusive: false,
	});
	const { page } = await screens.open({ path: `/?run=${uuid}&view=functions` });
	await page.waitForRequest(/\/functions\?/);
	await openView(page, 'Output');
	await page.getByRole('searchbox', { name: /output/i }).waitFor();
	let asked = 0;
	page.on('request', (request) => /\/functions\?/.test(request.url()) && asked++);
	// It was asked every second.
	await page.waitForTimeout(2500);
	expect(asked).toBe(0);
	await server.answer(`benchmark/${uuid}/cancel`, { method: 'POST' });
});

test('two who write about one run keep what the other wrote', async ({ server, screens }) => {
	const run = await measured(server, await server.session('words'), 'words');
	const [one, two] = [
		await screens.open({ path: `/?run=${run}&view=details` }),
		await screens.open({ path: `/?run=${run}&view=details` }),
	];
	const field = (screen: typeof one, name: RegExp) =>
		screen.page.locator('.run-edit').getByLabel(name);
	await field(one, /^Tags/).fill('mine');
	await field(two, /^Note/).fill('of the other');
	await two.page.getByRole('button', { name: 'Save', exact: true }).last().click();
	await until(
		'the other note is seen',
		async () => (await field(one, /^Note/).inputValue()) === 'of the other',
	);
	await one.page.getByRole('button', { name: 'Save', exact: true }).last().click();
	const facts = await until('the tags are kept', async () => {
		const now = await server.facts(run);
		return now.tags.length > 0 && now;
	});
	expect(facts).toMatchObject({ tags: ['mine'], note: 'of the other' });
});

test('a magnified page has room for the flame graph', async ({ server, screens }) => {
	const run = await measured(server, await server.session('magnified'), 'magnified');
	const { page } = await screens.open({
		viewport: { width: 720, height: 450 },
		path: `/?run=${run}`,
	});
	await flameDrawn(page);
	expect((await flame(page).boundingBox())!.height).toBeGreaterThan(120);
});

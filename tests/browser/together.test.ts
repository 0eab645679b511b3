/* Several people, several tabs, and a server that goes away for a moment. */
import type { Page } from 'playwright-core';
import { addressOf, flameSeconds, timeline, views } from './actions';
import type { Server } from './server';
import { expect, test } from './test';
import { until } from './wait';

const PLAN = {
	workload: ['python3', '-c', 'while True: sorted(str(x) for x in range(3000))'],
	tool: 'both',
	events: ['task-clock', 'page-faults'],
	interval: 0.05,
	sample: { events: ['cpu-clock'], frequency: 499, callgraph: 'fp' },
	streaming: true,
	// A test that fails does not keep the next one waiting.
	exclusive: false,
};

async function running(server: Server, title: string) {
	const session = await server.session(title);
	const run = await server.run(session, PLAN);
	await server.reaches(run.uuid, 'running');
	return { run: run.uuid, path: `/?session=${session}&run=${run.uuid}` };
}

/** What is shown of the run goes on. */
async function goesOn(page: Page): Promise<void> {
	const before = await until('there are samples', () => flameSeconds(page));
	await until('there are more', async () => (await flameSeconds(page)) > before);
}

test('two people watch one run, and both see it end', async ({ server, screens }) => {
	const { run, path } = await running(server, 'two');
	const one = await screens.open({ path });
	const other = await screens.open({ path, theme: 'dark' });
	await Promise.all([goesOn(one.page), goesOn(other.page)]);
	await one.page.getByRole('button', { name: 'Cancel' }).click();
	await server.reaches(run, 'done', 'cancelled');
	for (const { page } of [one, other])
		await page.getByRole('button', { name: 'Run again' }).waitFor();
});

test('eight tabs share one stream, and all of them get what is new', async ({
	server,
	screens,
}) => {
	const { run, path } = await running(server, 'eight');
	const context = await screens.context();
	const tabs = [];
	for (let i = 0; i < 8; i++) tabs.push(await screens.tab(context, { path }));
	for (const { page } of tabs) await views(page).waitFor();
	await until(
		'one stream serves all',
		async () => (await server.metric('tacho_live_streams')) === 1,
	);
	await Promise.all(tabs.map(({ page }) => goesOn(page)));
	expect(await server.metric('tacho_live_streams')).toBe(1);
	await server.post(`benchmark/${run}/cancel`, undefined);
	for (const { page } of tabs) await page.getByRole('button', { name: 'Run again' }).waitFor();
});

test('the server is started anew while the page is open', async ({ server, screens }) => {
	const { path } = await running(server, 'away');
	const screen = await screens.open({ path });
	screen.expect(/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/);
	screen.expect(/ERR_INCOMPLETE_CHUNKED_ENCODING/);
	// What is asked between the signal and the server's end.
	screen.expect(/status of 503/);
	const { page } = screen;
	await goesOn(page);
	await server.stop();
	const banner = page.getByRole('alert').filter({ hasText: 'What is on the screen stays' });
	await banner.waitFor();
	expect(await timeline(page).isVisible(), 'what was shown stays').toBe(true);
	await server.start();
	await banner.waitFor({ state: 'hidden' });
	await page.getByRole('button', { name: 'Run again' }).click();
	await until('another run is open', () => {
		return `/${new URL(page.url()).search}` !== path && addressOf(page).get('run');
	});
	await goesOn(page);
	await page.getByRole('button', { name: 'Cancel' }).click();
});

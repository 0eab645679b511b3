/* Runs pinned as A and B are compared by the event that is chosen; if not both have it, it is said. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { DiffCounters } from '../../web/src/api/types';
import { openView } from './actions';
import { expect, test } from './test';
import { until } from './wait';

const HERE = fileURLToPath(new URL('.', import.meta.url));

const plan = (...events: string[]) => ({
	workload: 'tacho demo --seconds 1',
	tool: 'record',
	sample: { events, frequency: 999, callgraph: 'fp' },
});

test('by the chosen event', async ({ server, screens }) => {
	const session = await server.session('compare');
	const a = await server.run(session, plan('cpu-clock', 'page-faults'));
	const b = await server.run(session, plan('cpu-clock', 'page-faults'));
	const c = await server.run(session, plan('cpu-clock'));
	for (const { uuid } of [a, b, c]) await server.reaches(uuid, 'done');
	const path = `/?session=${session}&run=${a.uuid}&view=diff&a=${a.uuid}`;
	const asked: URLSearchParams[] = [];
	const { page } = await screens.open({ path: `${path}&b=${b.uuid}` });
	page.on('request', (r) => {
		const url = new URL(r.url());
		if (url.pathname === '/api/v1/diff') asked.push(url.searchParams);
	});
	const events = page.getByRole('combobox', { name: 'Event of the samples' });
	await events.selectOption('page-faults');
	const query = await until('the other event is asked for', () =>
		asked.find((q) => q.get('before_event') === 'page-faults'),
	);
	expect(query.get('after_event')).toBe('page-faults');

	await page.getByLabel('After: run B').selectOption(c.uuid);
	await page.getByText('By cpu-clock, because only one side has samples of page-faults').waitFor();
	// Which event both have, and which of several it is, the server knows.
	const last = await until('it is asked for without it', () =>
		asked.find((q) => q.get('after') === c.uuid && !q.has('after_event')),
	);
	expect(last.has('before_event')).toBe(false);
});

/** Two events: the first listed has one sample, the second ten. */
const RECORDING = `
import sys
sys.path.insert(0, '../e2e')
from perfdata import Recording
r = Recording(Recording.CLOCK, Recording.FAULTS)
r.comm('events')
r.sample(0, 10**12)
for i in range(10):
    r.sample(1, 10**12 + i * 10**8)
sys.stdout.buffer.write(r.bytes())
`;

test('without a choice it is the event with most samples, in every view', async ({
	server,
	screens,
}) => {
	const bytes = execFileSync('python3', ['-c', RECORDING], {
		cwd: HERE,
	});
	const made = await server.answer('import', { method: 'POST', body: new Uint8Array(bytes) });
	const { uuid, session } = (await made.json()) as {
		uuid: string;
		session: string;
	};
	await server.reaches(uuid, 'done');
	const path = `/?session=${session}&run=${uuid}`;
	const { page } = await screens.open({ path });
	const event = page.getByRole('combobox', { name: 'Event of the samples' });
	for (const view of ['Functions', 'Flame graph'] as const) {
		await openView(page, view);
		await until(
			`${view} is about page faults`,
			async () => (await event.inputValue()) === 'page-faults',
		);
	}
	await page.getByRole('button', { name: 'Save', exact: true }).last().click();
	const svg = page.getByRole('link', { name: 'SVG, whole selection' });
	expect(await svg.getAttribute('href')).toContain('event=page-faults');
	await page.goto(new URL(`${path}&view=diff&a=${uuid}&b=${uuid}`, page.url()).href);
	await until('so is the comparison', async () => (await event.inputValue()) === 'page-faults');
});

test('counters, with what the server says of them', async ({ server, screens }) => {
	const session = await server.session('compare counters');
	const count = (events: string[]) =>
		server.run(session, {
			workload: 'tacho demo --seconds 1',
			tool: 'stat',
			events,
			interval: 0.02,
		});
	const a = await count(['task-clock', 'page-faults']);
	const b = await count(['task-clock', 'context-switches']);
	for (const { uuid } of [a, b]) await server.reaches(uuid, 'done');
	const pair = `a=${a.uuid}&b=${b.uuid}`;
	const { page } = await screens.open({
		path: `/?session=${session}&run=${a.uuid}&view=diff&diff=counters&${pair}`,
	});
	const answer = await server.get<DiffCounters>(`diff/counters?before=${a.uuid}&after=${b.uuid}`);
	expect(answer.counters.map((c) => [c.name, !!c.before, !!c.after])).toEqual([
		['task-clock', true, true],
		['page-faults', true, false],
		['context-switches', false, true],
	]);
	const row = page.getByRole('row', { name: /^task-clock/ });
	await row.waitFor();
	const { verdict } = answer.counters[0]!;
	expect(['more', 'less', 'unclear']).toContain(verdict);
	// What may be chance is marked; of everything else the interval is shown. The first change is of the means.
	const change = await row.getByRole('cell').nth(2).innerText();
	expect(change.includes('≈')).toBe(verdict === 'unclear');
	expect(change.includes('\n± ')).toBe(verdict !== 'unclear');
	expect(await page.getByRole('row', { name: /^page-faults/ }).innerText()).toContain(
		'not counted',
	);
});

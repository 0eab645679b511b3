/* Runs pinned as A and B are compared by the event that is chosen; if not both have it, it is said. */
import type { DiffCounters } from '../../web/src/api/types';
import { expect, test } from './test';
import { until } from './wait';

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
	await page.getByText('By cpu-clock: not both have samples of page-faults').waitFor();
	const last = await until('what both have is asked for', () =>
		asked.find((q) => q.get('after') === c.uuid && q.get('after_event') === 'cpu-clock'),
	);
	expect(last.get('before_event')).toBe('cpu-clock');
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

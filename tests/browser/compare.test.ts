/* Runs pinned as A and B are compared by the event that is chosen; if not both have it, it is said. */
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

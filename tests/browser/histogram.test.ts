/* The histogram follows the room that it has. */
import { settled } from './actions';
import { expect, test } from './test';
import { until } from './wait';

test('more room, more bins', async ({ server, screens }) => {
	const session = await server.session('histogram');
	const plan = { workload: 'tacho demo --seconds 1', tool: 'stat', events: ['task-clock'] };
	const { uuid } = await server.run(session, { ...plan, interval: 0.01 });
	await server.reaches(uuid, 'done');
	const path = `/?session=${session}&run=${uuid}&view=histogram&full=1`;
	const { page } = await screens.open({ path, viewport: { width: 500, height: 800 } });
	await page.getByRole('button', { name: 'Table' }).click();
	const bins = () =>
		page.getByRole('region', { name: 'Values as a table' }).locator('tbody tr').count();
	await until('there are bins', bins);
	await settled(page);
	const few = await bins();
	await page.setViewportSize({ width: 1400, height: 800 });
	await until('there are more bins', async () => (await bins()) > few);
	await page.setViewportSize({ width: 500, height: 800 });
	await until('there are as many as before', async () => (await bins()) === few);
	expect(few).toBeGreaterThan(1);
});

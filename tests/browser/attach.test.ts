/* Watching a process that runs already. */
import { spawn } from 'node:child_process';
import { addressOf, flameDrawn, form, openView, functions, views } from './actions';
import { expect, test } from './test';
import { until } from './wait';

const BUSY = 'def busy_with_sums():\n\twhile True: sum(range(10000))\nbusy_with_sums()';

test('a running process is found, attached to and let go', async ({ server, screens }) => {
	const busy = spawn('python3', ['-X', 'perf', '-c', BUSY], { stdio: 'ignore' });
	try {
		const session = await server.session('attaching');
		const { page } = await screens.open({ path: `/?session=${session}` });
		await form(page).getByRole('radio', { name: 'Attach' }).click();
		await form(page).getByRole('searchbox', { name: 'Processes' }).fill(String(busy.pid));
		await form(page)
			.getByRole('listbox', { name: 'Processes that run' })
			.getByRole('option', { name: new RegExp(`pid ${busy.pid}\\b`) })
			.click();
		await form(page)
			.getByRole('button', { name: `Remove process ${busy.pid}` })
			.waitFor();
		await form(page).getByRole('button', { name: 'Run', exact: true }).click();
		const run = await until('the run is open', () => addressOf(page).get('run'));
		await server.reaches(run, 'running');
		await views(page).waitFor();
		await until('samples were taken', async () => (await server.facts(run)).samples > 20);
		await page.getByRole('button', { name: 'Cancel' }).click();
		const facts = await server.reaches(run, 'done', 'cancelled');
		expect(facts.pids).toEqual([busy.pid]);
		await flameDrawn(page);
		await openView(page, 'Functions');
		await functions(page).getByRole('row').nth(1).waitFor();
		expect(busy.exitCode, 'the process goes on').toBeNull();
	} finally {
		busy.kill('SIGKILL');
	}
});

/* Recordings of other machines: chosen, or dropped anywhere. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressOf, flameDrawn, functions, openView } from './actions';
import { TACHO, type Server } from './server';
import { expect, test } from './test';
import { until } from './wait';

const LOOP = 'for i in range(300): sorted(str(x) for x in range(3000))';

/** Made by `tacho record`, in the format of perf. */
function recording(server: Server): string {
	const file = join(server.home, 'perf.data');
	const options = ['record', '-q', '-g', '-F', '999', '-e', 'cpu-clock', '-o', file];
	execFileSync(TACHO, [...options, '--', 'python3', '-c', LOOP], { cwd: server.home });
	return file;
}

test('a perf.data is chosen and becomes a run', async ({ server, screens }) => {
	const file = recording(server);
	const { page } = await screens.open();
	const chooser = page.waitForEvent('filechooser');
	await page
		.getByRole('button', { name: /choose one|import/i })
		.first()
		.click();
	await (await chooser).setFiles(file);
	const run = await until('its run is open', () => addressOf(page).get('run'));
	const facts = await server.reaches(run, 'done');
	expect(facts.samples).toBeGreaterThan(20);
	await flameDrawn(page);
	await openView(page, 'Functions');
	await functions(page).getByRole('row').nth(1).waitFor();
});

test('a perf.data is dropped on a session', async ({ server, screens }) => {
	const bytes = readFileSync(recording(server)).toString('base64');
	const session = await server.session('dropped');
	const { page } = await screens.open({ path: `/?session=${session}` });
	await page.getByRole('form', { name: 'New run' }).waitFor();
	const transfer = await page.evaluateHandle((text) => {
		const data = new DataTransfer();
		const content = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
		data.items.add(new File([content], 'perf.data'));
		return data;
	}, bytes);
	await page.dispatchEvent('body', 'dragenter', { dataTransfer: transfer });
	await page.getByRole('heading', { name: 'Drop a perf.data file' }).waitFor();
	await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
	const run = await until('its run is open', () => addressOf(page).get('run'));
	expect((await server.reaches(run, 'done')).session).toBe(session);
	await flameDrawn(page);
});

test('what is no recording is refused with a sentence', async ({ server, screens }) => {
	const session = await server.session('refused');
	const screen = await screens.open({ path: `/?session=${session}` });
	const { page } = screen;
	await page.getByRole('form', { name: 'New run' }).waitFor();
	const transfer = await page.evaluateHandle(() => {
		const data = new DataTransfer();
		data.items.add(new File(['certainly not a recording, only some text'], 'letter.txt'));
		return data;
	});
	await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
	await page
		.getByText(/letter\.txt.*(not|no) /)
		.first()
		.waitFor();
});

/* Counters that had no counter of the CPU for a while: a gap, not zero; and estimates where they took turns. */
import type { Locator, Page } from 'playwright-core';
import { settled, timeline } from './actions';
import { shoot } from './shots';
import { statRecording } from './stat_recording';
import { expect, test } from './test';
import { until } from './wait';

const SECONDS = 8;
const RATE = 2e9;

/** Counted all the time; not at all from 2 to 4 s, and half of the time from 6 s on. */
const RECORDING = statRecording(
	[
		{ config: 0, rate: 3e9, running: () => 1 },
		{ config: 1, rate: RATE, running: (s) => (s >= 2 && s < 4 ? 0 : s >= 6 ? 0.5 : 1) },
	],
	SECONDS,
	0.05,
);

function plot(page: Page, name: string): Locator {
	return page.locator('.plot-row').filter({ hasText: name });
}

/** What stands beside the plot while the pointer is at @s. */
async function valueAt(page: Page, name: string, s: number): Promise<string> {
	const box = (await timeline(page).boundingBox())!;
	await page.mouse.move(box.x + (box.width * s) / SECONDS, box.y + box.height / 2);
	return until('a value is shown', () => plot(page, name).locator('.at-cursor').innerText());
}

/** Whether the line passes @s: a column of its canvas has a pixel that is not grey. */
async function hasLine(page: Page, name: string, s: number): Promise<boolean> {
	const sheet = (await timeline(page).boundingBox())!;
	const x = sheet.x + (sheet.width * s) / SECONDS;
	return plot(page, name)
		.locator('canvas')
		.evaluate((canvas: HTMLCanvasElement, at) => {
			const { left, width } = canvas.getBoundingClientRect();
			const column = Math.round(((at - left) / width) * canvas.width);
			const { data } = canvas.getContext('2d')!.getImageData(column, 0, 1, canvas.height);
			for (let i = 0; i < data.length; i += 4) {
				const [r, g, b, a] = data.subarray(i, i + 4);
				if (a! > 100 && Math.max(r!, g!, b!) - Math.min(r!, g!, b!) > 60) return true;
			}
			return false;
		}, x);
}

test('what was not counted is a gap, and an estimate says so', async ({ server, screens }) => {
	const session = await server.session('Few counters');
	const path = `import?session=${session}&name=perf.data`;
	const answer = await server.answer(path, { method: 'POST', body: new Uint8Array(RECORDING) });
	const { uuid } = (await answer.json()) as { uuid: string };
	await server.reaches(uuid, 'done');
	const { page } = await screens.open({ path: `/?session=${session}&run=${uuid}&view=histogram` });
	await plot(page, 'instructions').locator('canvas').waitFor();
	await settled(page);

	await until('the line is drawn', () => hasLine(page, 'instructions', 1));
	const lines = async (name: string) =>
		Promise.all([1, 3, 5, 7].map((s) => hasLine(page, name, s)));
	expect(await lines('instructions')).toEqual([true, false, true, true]);
	expect(await lines('cycles')).toEqual([true, true, true, true]);

	expect(await valueAt(page, 'instructions', 1)).toMatch(/^2(\.0+)? G\/s$/);
	expect(await valueAt(page, 'instructions', 3)).toBe('–');
	// Estimated from half of the time.
	expect(await valueAt(page, 'instructions', 7)).toMatch(/^2(\.0+)? G\/s$/);
	expect(await valueAt(page, 'cycles', 3)).toMatch(/^3(\.0+)? G\/s$/);
	await page.mouse.move(5, 5);
	await plot(page, 'instructions').getByText('counted 50.0 % of the time').waitFor();
	expect(
		await plot(page, 'cycles')
			.getByText(/of the time/)
			.count(),
	).toBe(0);
	await shoot(page, 'gaps-desktop-light');
});

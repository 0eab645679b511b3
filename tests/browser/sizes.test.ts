/* Phones begin with the result, and large screens have large text. */
import type { Page } from 'playwright-core';
import { flame } from './actions';
import { expect, test } from './test';
import { until } from './wait';

/** One more warning beside the run's name, whatever else the machine has caused. */
async function warn(page: Page, words: string): Promise<void> {
	await page.locator('.run-facts').evaluate((facts, text) => {
		const chip = document.createElement('a');
		chip.className = 'chip warn';
		const label = chip.appendChild(document.createElement('span'));
		label.className = 'cut';
		label.textContent = text;
		facts.append(chip);
	}, words);
}

test('on the first screen of a phone, and on a large one', async ({ server, screens }) => {
	const session = await server.session('sizes');
	const { uuid } = await server.run(session, {
		workload: 'tacho demo --seconds 1',
		tool: 'both',
		events: ['task-clock', 'page-faults', 'context-switches'],
		sample: { events: ['cpu-clock'], frequency: 999, callgraph: 'fp' },
	});
	await server.reaches(uuid, 'done');
	const path = `/?session=${session}&run=${uuid}`;
	const { page } = await screens.open({ path, viewport: { width: 360, height: 640 } });
	const plots = page.locator('.plot-row');
	await until('there are two plots', async () => (await plots.count()) === 2);
	await warn(page, '1,234 samples lost');
	const tabs = (await page
		.getByRole('navigation', { name: 'Parts of the session' })
		.boundingBox())!;
	const graph = async () => (await flame(page).boundingBox())?.y ?? Infinity;
	await until('the graph begins above the tabs', async () => (await graph()) + 20 < tabs.y);

	const height = async () => (await page.locator('.views').boundingBox())!.height;
	await page.setViewportSize({ width: 1440, height: 900 });
	const usual = await until('the text is as usual', height);
	await page.setViewportSize({ width: 3840, height: 2160 });
	await until('the text is larger', async () => (await height()) > 1.3 * usual);
	const canvas = page.locator('.plot-canvas canvas').first();
	await until('plots grow with it', async () => (await canvas.boundingBox())!.height > 100);
	expect(await plots.count()).toBeGreaterThan(2);
});

/* Phones begin with the result, and large screens have large text. */
import type { Page } from 'playwright-core';
import { flame } from './actions';
import { expect, test } from './test';
import { until } from './wait';

/** Repeats the warning beside the run's name, as if there were so many. */
async function warnings(page: Page, count: number): Promise<void> {
	await page.locator('.run-facts .chip').evaluateAll((chips, wanted) => {
		for (let n = chips.length; n < wanted; n++) chips[0]!.after(chips[0]!.cloneNode(true));
	}, count);
}

/** What is said of the run does not go beyond the screen's edge; its height. */
async function heightOfFacts(page: Page): Promise<number> {
	return page.locator('.run-facts').evaluate((facts) => {
		if (facts.scrollWidth > facts.clientWidth) throw new Error('beyond the edge');
		return facts.clientHeight;
	});
}

test('on the first screen of a phone, and on a large one', async ({ server, screens }) => {
	const session = await server.session('sizes');
	const beside = await server.run(session, {
		workload: 'sleep 1000',
		tool: 'stat',
		events: ['task-clock'],
		exclusive: false,
	});
	await server.reaches(beside.uuid, 'running');
	const { uuid } = await server.run(session, {
		workload: 'tacho demo --seconds 1',
		exclusive: false,
		tool: 'both',
		events: ['task-clock', 'page-faults', 'context-switches'],
		sample: { events: ['cpu-clock'], frequency: 999, callgraph: 'fp' },
	});
	await server.reaches(uuid, 'done');
	await server.post(`benchmark/${beside.uuid}/cancel`, {});
	const path = `/?session=${session}&run=${uuid}`;
	const { page } = await screens.open({ path, viewport: { width: 360, height: 640 } });
	const plots = page.locator('.plot-row');
	await until('there are two plots', async () => (await plots.count()) === 2);
	await until(
		'there is a warning',
		async () => (await page.locator('.run-facts .chip').count()) > 0,
	);
	const oneLine = await heightOfFacts(page);
	await warnings(page, 2);
	expect(await heightOfFacts(page)).toBe(oneLine);
	const tabs = (await page
		.getByRole('navigation', { name: 'Parts of the session' })
		.boundingBox())!;
	const graph = async () => (await flame(page).boundingBox())?.y ?? Infinity;
	await until('the graph begins above the tabs', async () => (await graph()) + 20 < tabs.y);
	await warnings(page, 6);
	await heightOfFacts(page);

	const height = async () => (await page.locator('.views').boundingBox())!.height;
	await page.setViewportSize({ width: 1440, height: 900 });
	const usual = await until('the text is as usual', height);
	await page.setViewportSize({ width: 3840, height: 2160 });
	await until('the text is larger', async () => (await height()) > 1.3 * usual);
	const canvas = page.locator('.plot-canvas canvas').first();
	await until('plots grow with it', async () => (await canvas.boundingBox())!.height > 100);
	expect(await plots.count()).toBeGreaterThan(2);
});

/* What people do on the page, by the names that they see there. */
import type { Locator, Page } from 'playwright-core';
import { until } from './wait';

export type ViewName =
	'Flame graph' | 'Functions' | 'Diff' | 'Histogram' | 'Threads' | 'Events' | 'Output' | 'Details';

/** From and to as parts of what the timeline shows. */
export type Part = [from: number, to: number];

export function addressOf(page: Page): URLSearchParams {
	return new URL(page.url()).searchParams;
}

export function views(page: Page): Locator {
	return page.getByRole('navigation', { name: 'Views of the selection' });
}

export async function openView(page: Page, name: ViewName): Promise<void> {
	await views(page).getByRole('link', { name, exact: true }).click();
}

export function timeline(page: Page): Locator {
	return page.getByRole('application', { name: /^Timeline/ });
}

export function form(page: Page): Locator {
	return page.getByRole('form', { name: 'New run' });
}

export function command(page: Page): Locator {
	return form(page).getByLabel('Command', { exact: true });
}

export function runButton(page: Page): Locator {
	return form(page).getByRole('button', { name: 'Run', exact: true });
}

export function flame(page: Page): Locator {
	return page.getByRole('tree', { name: /^Flame graph/ });
}

/** A run in the list of runs. */
export function listed(page: Page, run: string): Locator {
	const list = page.getByRole('list', { name: 'Runs, the newest first' });
	return list.getByRole('listitem').filter({ has: page.locator(`a[href*="run=${run}"]`) });
}

export function functions(page: Page): Locator {
	return page.getByRole('grid', { name: 'Functions' });
}

/** Drags over the timeline, as a hand would: not at once. */
export async function drag(page: Page, [from, to]: Part, keys: 'Shift'[] = []): Promise<void> {
	const box = (await timeline(page).boundingBox())!;
	const y = box.y + box.height / 2;
	for (const key of keys) await page.keyboard.down(key);
	await page.mouse.move(box.x + box.width * from, y);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * to, y, { steps: 8 });
	await page.mouse.up();
	for (const key of keys) await page.keyboard.up(key);
}

interface Drawn {
	from?: number;
	to?: number;
	nodes: number;
}

/** Runs in the page: when the flame graph of the window of the address came on the screen, or null. */
function drawnAt(): { at: number; nodes: number } | null {
	const mark = performance.getEntriesByName('flame-drawn').at(-1) as PerformanceMark | undefined;
	const { from, to, nodes } = (mark?.detail ?? {}) as Drawn;
	const wanted = new URLSearchParams(location.search).get('window');
	const shown = from === undefined ? null : `${from}-${to}`;
	return mark && shown === wanted ? { at: mark.startTime, nodes } : null;
}

/** Waits for the flame graph of what is selected; says how many nodes it has. */
export async function flameDrawn(page: Page): Promise<number> {
	return (await until('the flame graph is drawn', () => page.evaluate(drawnAt))).nodes;
}

/** Brushes a window; milliseconds from the release to the flame graph of the window. */
export async function brush(page: Page, part: Part): Promise<number> {
	const before = addressOf(page).get('window');
	await page.evaluate(() => {
		const note = () => ((window as unknown as { released: number }).released = performance.now());
		addEventListener('pointerup', note, { capture: true, once: true });
	});
	await drag(page, part);
	await until('the address has the window', () => addressOf(page).get('window') !== before);
	const { at } = await until('the window’s flame graph is drawn', () => page.evaluate(drawnAt));
	const released = await page.evaluate(() => (window as unknown as { released: number }).released);
	// It may have been there before the button was let go.
	return Math.max(0, at - released);
}

/** Begins to watch the plots; the result is when, after a click, a line was first seen to move. */
export function firstMove(page: Page): Promise<number> {
	return page.evaluate(
		() =>
			new Promise<number>((done) => {
				let clicked = 0;
				const note = () => (clicked = performance.now());
				addEventListener('click', note, { capture: true, once: true });
				const pictures = new Set<string>();
				const look = () => {
					const canvas = document.querySelector<HTMLCanvasElement>('.plot-canvas canvas');
					if (canvas?.width && clicked) pictures.add(canvas.toDataURL());
					// An empty one, one with a beginning, one that went on.
					if (pictures.size > 2) done(performance.now() - clicked);
					else requestAnimationFrame(look);
				};
				look();
			}),
	);
}

/** Nobody waits for an answer. */
export async function settled(page: Page): Promise<void> {
	await until('nothing is on its way', async () => {
		const waiting = page.locator('[aria-busy=true], .spinner:visible');
		return (await waiting.count()) === 0;
	});
}

const SECONDS: Record<string, number> = { ns: 1e-9, µs: 1e-6, ms: 1e-3, s: 1, min: 60 };

/** Seconds of what the flame graph says that it is made of; 0 while there is nothing. */
export async function flameSeconds(page: Page): Promise<number> {
	const foot = page.locator('.flame-foot');
	const text = (await foot.count()) ? await foot.innerText() : '';
	const found = /([\d.,]+)\s?(ns|µs|ms|s|min) of /.exec(text);
	return found ? Number(found[1]!.replaceAll(',', '')) * SECONDS[found[2]!]! : 0;
}

/** Begins to watch the flame graph, in the page, so that it is seen to grow however seldom a test looks; the
 * result says whether it has. */
export async function watchGrowth(page: Page): Promise<() => Promise<boolean>> {
	type Watched = Window & { flameGrew?: boolean };
	await page.evaluate((seconds) => {
		let first = 0;
		const look = () => {
			const text = document.querySelector('.flame-foot')?.textContent ?? '';
			const found = /([\d.,]+)\s?(ns|µs|ms|s|min) of /.exec(text);
			const now = found ? Number(found[1]!.replaceAll(',', '')) * seconds[found[2]!]! : 0;
			if (first && now > first) (window as Watched).flameGrew = true;
			else requestAnimationFrame(look);
			first ||= now;
		};
		look();
	}, SECONDS);
	return () => page.evaluate(() => (window as Watched).flameGrew === true);
}

/** Starts a command by the form; the id of the run. */
export async function start(page: Page, text: string): Promise<string> {
	const before = addressOf(page).get('run');
	await command(page).fill(text);
	await runButton(page).click();
	return until('the new run is open', () => {
		const now = addressOf(page).get('run');
		return now !== before && now;
	});
}

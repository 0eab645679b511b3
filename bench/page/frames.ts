/* How smoothly the page moves: the time from one frame to the next while something is done to it. */
import type { Page } from 'playwright-core';

interface Recorder {
	frames: number[];
	stop: boolean;
}

/** Milliseconds between frames while @act goes on. */
export async function framesWhile(page: Page, act: () => Promise<void>): Promise<number[]> {
	await page.evaluate(() => {
		const recorder: Recorder = { frames: [], stop: false };
		(window as unknown as { recorder: Recorder }).recorder = recorder;
		let before = 0;
		const frame = (now: number) => {
			if (before) recorder.frames.push(now - before);
			before = now;
			if (!recorder.stop) requestAnimationFrame(frame);
		};
		requestAnimationFrame(frame);
	});
	await act();
	return page.evaluate(() => {
		const { recorder } = window as unknown as { recorder: Recorder };
		recorder.stop = true;
		return recorder.frames;
	});
}

/** The value that @share of all do not exceed. */
export function quantile(values: number[], share: number): number {
	const sorted = [...values].sort((a, b) => a - b);
	return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

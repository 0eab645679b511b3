/* Pictures of the page. They go to build/page-shots, or to TACHO_SHOTS where README and docs have them. */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { BUILD } from './server';

const asked = process.env.TACHO_SHOTS;
const FOLDER = asked ? resolve(BUILD, '..', asked) : join(BUILD, 'page-shots');

export async function shoot(page: Page, name: string): Promise<void> {
	mkdirSync(FOLDER, { recursive: true });
	// Fonts and the last frame are there before the picture is taken.
	await page.evaluate(async () => {
		await document.fonts.ready;
		await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
	});
	await page.screenshot({
		path: join(FOLDER, name + '.png'),
		animations: 'disabled',
		caret: 'hide',
	});
}

/* Pictures of the page: all of them in build/page-shots; with TACHO_SHOTS=FOLDER those that README and
 * docs have are put there instead. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { smaller } from './png';
import { BUILD } from './server';

const asked = process.env.TACHO_SHOTS;
const FOLDER = asked ? resolve(BUILD, '..', asked) : join(BUILD, 'page-shots');

/** Screen, size and theme → what the picture is called in the docs. */
const IN_DOCS: Record<string, string> = {
	'first-desktop-light': 'first',
	'live-desktop-light': 'live',
	'brush-desktop-light': 'brush',
	'diff-desktop-light': 'diff',
	'events-rows-desktop-light': 'events',
	'functions-desktop-dark': 'functions-dark',
	'brush-phone-light': 'phone',
};

/** Whether only pictures are wanted, and this is not one of them. */
export function isLeftOut(screen: string): boolean {
	return asked !== undefined && !IN_DOCS[screen];
}

export async function shoot(page: Page, screen: string): Promise<void> {
	if (isLeftOut(screen)) return;
	const name = asked ? IN_DOCS[screen] : screen;
	mkdirSync(FOLDER, { recursive: true });
	// Fonts and the last frame are there before the picture is taken.
	await page.evaluate(async () => {
		await document.fonts.ready;
		await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
	});
	const png = await page.screenshot({ animations: 'disabled', caret: 'hide' });
	writeFileSync(join(FOLDER, name + '.png'), asked ? smaller(png) : png);
}

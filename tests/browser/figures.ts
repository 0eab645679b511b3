/* Figures that tests measure. They are printed together at the end: see `run`. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { BUILD } from './server';

const FILE = join(BUILD, 'page-figures.txt');

/** Notes what was measured; more than @limit fails the test. */
export function figure(what: string, value: number, unit: string, limit?: number): void {
	const shown = value >= 100 ? value.toFixed(0) : value.toPrecision(3);
	const bound = limit === undefined ? '' : ` (at most ${limit})`;
	appendFileSync(FILE, `budget: ${what}: ${shown} ${unit}${bound}\n`);
	if (limit !== undefined) expect(value, what).toBeLessThanOrEqual(limit);
}

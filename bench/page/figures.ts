/* Figures for bench/page.py: a JSON object a line in the file that TACHO_FIGURES names. */
import { appendFileSync } from 'node:fs';

/** Notes what was measured; @target is what it should not exceed. */
export function figure(what: string, value: number, unit: string, target?: number): void {
	appendFileSync(process.env.TACHO_FIGURES!, JSON.stringify({ what, value, unit, target }) + '\n');
}

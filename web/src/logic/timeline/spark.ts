/* The sparkline of a run: its first counter, or the rate of its samples. */
import type { Column, Run } from '../../api/types';

/** The counter that represents a run; null: its samples do. */
export function sparkCounter(run: Run): string | null {
	return run.opened_events?.find((e) => e.counted && e.supported !== false)?.name ?? null;
}

function sum(lines: Column[]): (number | null)[] {
	const length = Math.max(0, ...lines.map((line) => line.length));
	return Array.from({ length }, (_, i) => {
		const here = lines.map((line) => line[i]).filter((v) => v != null && Number.isFinite(v));
		return here.length ? here.reduce((a, b) => a! + b!, 0)! : null;
	});
}

interface SparkSource {
	counters: { name: string; mean: Column }[];
	samples: { rate: Column }[];
}

/** Values over time, of all CPUs together; null where nothing was counted. */
export function sparkValues(source: SparkSource, counter: string | null): (number | null)[] {
	const lines = source.counters.filter((c) => c.name === counter).map((c) => c.mean);
	const values = sum(lines);
	if (values.some((v) => v !== null)) return values;
	return sum(source.samples.map((s) => s.rate));
}

const EDGE = 1;

/** The path of an SVG of this size, with gaps where nothing was counted; "" below two values. */
export function sparkPath(values: (number | null)[], width: number, height: number): string {
	const known = values.filter((v) => v !== null);
	if (known.length < 2) return '';
	const max = Math.max(...known, 0);
	const step = (width - 2 * EDGE) / (values.length - 1);
	const room = height - 2 * EDGE;
	let pen = 'M';
	let out = '';
	values.forEach((v, i) => {
		if (v === null) {
			pen = 'M';
			return;
		}
		const y = EDGE + room - (max > 0 ? (Math.max(v, 0) / max) * room : 0);
		out += `${pen}${(EDGE + i * step).toFixed(1)} ${y.toFixed(1)}`;
		pen = 'L';
	});
	return out;
}

/* Positions of bars, lines and labels of a histogram, in parts (0…1) of its width and height. */
import type { CounterLine, OpenedEvent, ValueHistogram } from '../../api/types';
import { weightUnit } from '../flame/flame_words';

/** What a histogram can show: a counter, or weights of the samples of an event. */
export interface Choice {
	kind: 'counter' | 'weight';
	name: string;
	unit: string | null;
}

export interface Bar {
	from: number;
	to: number;
	count: number;
	/** Left and right edge. */
	x0: number;
	x1: number;
	/** Height. */
	y: number;
}

export interface Line {
	label: string;
	value: number;
	x: number;
}

export interface Axes {
	logx: boolean;
	logy: boolean;
}

/** The choice as the address holds it: "weight:cpu-clock". */
export function choiceKey(c: Choice): string {
	return c.kind === 'weight' ? 'weight:' + c.name : c.name;
}

/** Lines for CPUs and threads have the same name: the histogram covers all of them. */
export function choicesOf(
	counters: Pick<CounterLine, 'name' | 'unit'>[],
	opened: OpenedEvent[] | null,
): Choice[] {
	const units = new Map(counters.map((c) => [c.name, c.unit]));
	const sampled = (opened ?? []).filter((e) => e.sampled && e.supported !== false);
	return [
		...[...units].map(([name, unit]): Choice => ({ kind: 'counter', name, unit })),
		...[...new Set(sampled.map((e) => e.name))].map((name): Choice => ({
			kind: 'weight',
			name,
			unit: weightUnit(name, null),
		})),
	];
}

/** The choice that the address names, or the first one. */
export function chosenOf(choices: Choice[], key: string | null): Choice | null {
	return choices.find((c) => choiceKey(c) === key) ?? choices[0] ?? null;
}

type Scale = (value: number) => number;

/** Part of a logarithmic axis that is reserved for zero, at the left end. */
const ZERO_PART = 0.04;

export function xScale(h: ValueHistogram, log: boolean): Scale {
	const values = h.bins.flatMap((b) => [b.from, b.to]);
	const max = Math.max(h.max, ...values);
	const min = Math.min(h.min, ...values);
	if (!log || max <= 0) {
		const width = max - min;
		return (v) => (width > 0 ? (v - min) / width : 0.5);
	}
	const least = Math.min(...values.filter((v) => v > 0));
	const zero = h.bins.some((b) => b.from <= 0) ? ZERO_PART : 0;
	const width = Math.log(max / least);
	return (v) => {
		if (v <= 0) return zero / 2;
		return zero + (1 - zero) * (width > 0 ? Math.log(Math.max(v, least) / least) / width : 0.5);
	};
}

/** Height of a count. With a logarithmic axis, a count of one still has a bar. */
export function yScale(most: number, log: boolean): Scale {
	if (!log) return (n) => (most ? n / most : 0);
	return (n) => (n > 0 ? Math.log(n + 1) / Math.log(most + 1) : 0);
}

/** Width of a bin without width (all values alike, or zero on a logarithmic axis). */
const THIN = 0.02;

export function layOutBars(h: ValueHistogram, axes: Axes): Bar[] {
	const x = xScale(h, axes.logx);
	const y = yScale(Math.max(0, ...h.bins.map((b) => b.count)), axes.logy);
	return h.bins.map((b) => {
		let [x0, x1] = [x(b.from), x(b.to)];
		if (x1 - x0 < 1e-9) [x0, x1] = [Math.max(0, x0 - THIN / 2), Math.min(1, x0 + THIN / 2)];
		return { ...b, x0, x1, y: y(b.count) };
	});
}

const PERCENTILES = [
	['p50', 'half'],
	['p90', '90 %'],
	['p99', '99 %'],
	['p999', '99.9 %'],
] as const;

export function layOutPercentiles(h: ValueHistogram, axes: Axes): Line[] {
	const x = xScale(h, axes.logx);
	return PERCENTILES.map(([key]) => ({
		label: key === 'p999' ? 'p99.9' : key,
		value: h[key],
		x: x(h[key]),
	}));
}

/** Labels are right of their line, or left of it near the right edge. */
export function labelIsLeft(line: Line, width: number): boolean {
	return line.x > 1 - width;
}

/** Moves overlapping labels to lower rows. Returns the row of each. @width: of a label. */
export function labelRows(lines: Line[], width: number): number[] {
	const ends: number[] = [];
	return lines.map((line) => {
		const left = labelIsLeft(line, width) ? line.x - width : line.x;
		let row = ends.findIndex((end) => end <= left);
		if (row < 0) row = ends.length;
		ends[row] = left + width;
		return row;
	});
}

/** Steps of 1, 2 or 5 for a linear axis, powers of ten for a logarithmic one; about @count. */
export function ticksBetween(min: number, max: number, log: boolean, count: number): number[] {
	if (!(max > min)) return [min];
	return log && max > 0 ? logTicks(min, max, count) : linearTicks(min, max, count);
}

function linearTicks(min: number, max: number, count: number): number[] {
	const rough = (max - min) / Math.max(1, count);
	const power = 10 ** Math.floor(Math.log10(rough));
	const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough)!;
	const out = [];
	for (let i = Math.ceil(min / step); i * step <= max * (1 + 1e-12); i++) out.push(i * step);
	return out;
}

function logTicks(min: number, max: number, count: number): number[] {
	const first = Math.ceil(Math.log10(Math.max(min, max / 1e15)) - 1e-9);
	const last = Math.floor(Math.log10(max) + 1e-9);
	// Between two powers of ten only 2 and 5 are round enough.
	if (last - first < 1) return linearTicks(min, max, count);
	const every = Math.max(1, Math.ceil((last - first + 1) / Math.max(1, count)));
	const out = [];
	for (let p = first; p <= last; p += every) out.push(10 ** p);
	return out;
}

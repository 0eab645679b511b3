/* What the timeline draws, from the server's answer or from a run that goes on: one plot for each
 * counter, with a line for each CPU or thread, and one for samples. Pure. */
import type { Column, Mark, Timeline } from '../../api/types';
import type { Window } from '../address';
import { partAt } from './timeline_range';
import { rateUnit, SAMPLE_RATE, type Unit } from '../units';

/** One line as received: values a second; NaN or null where nothing was counted. */
export interface RawLine {
	name: string;
	unit: string | null;
	scale: number;
	cpu: number | null;
	thread?: number | null;
	t: ArrayLike<number>;
	min: ArrayLike<number | null>;
	max: ArrayLike<number | null>;
	mean: ArrayLike<number | null>;
	running_ppm?: Column;
}

export type Values = (number | null)[];

interface PlotLine {
	/** "CPU 3", "thread 1234", the event; empty if it is the only one. */
	label: string;
	min: Values;
	max: Values;
	mean: Values;
}

export interface Plot {
	/** The counter's name, or SAMPLES: identifies the plot in the legend. */
	key: string;
	title: string;
	area: boolean;
	unit: Unit;
	/** Unit and scale as the server gives them. */
	source: { unit: string | null; scale: number };
	/** Where each point begins; the same for all lines. */
	t: number[];
	lines: PlotLine[];
	/** The top of the value axis, in shown units. */
	top: number;
	/** Some values exceed `top`: they are marked, not drawn to scale. */
	clipped: boolean;
	/** Where the kernel multiplexed the counter: indices into t. */
	shared: number[];
	/** The smallest part of the time in which it was counting; 1: always. */
	running: number;
}

export const SAMPLES = 'samples';
const SAMPLES_A_STEP = 12;

function valuesOf(column: ArrayLike<number | null>, factor: number): Values {
	const out: Values = new Array(column.length);
	for (let i = 0; i < column.length; i++) {
		const v = column[i];
		out[i] = v === null || v === undefined || Number.isNaN(v) ? null : v * factor;
	}
	return out;
}

function largest(columns: Values[]): number {
	let most = 0;
	for (const column of columns) for (const v of column) if (v !== null && v > most) most = v;
	return most;
}

/** 1, 1.5, 2, 3, 5, 7 × 10ⁿ: round enough for an axis, and close to the data. */
export function roundTop(value: number): number {
	if (!(value > 0)) return 1;
	const power = 10 ** Math.floor(Math.log10(value));
	for (const step of [1, 1.5, 2, 3, 5, 7]) if (step * power >= value * 0.9999) return step * power;
	return 10 * power;
}

/** Spikes above this many times the usual top are cut off. */
const SPIKE = 6;
/** One point in this many exceeds the usual top. */
const SPIKE_RARE = 100;

/** The value that only one point in SPIKE_RARE exceeds. */
function usualTop(lines: PlotLine[]): number {
	const all = lines.flatMap((l) => l.mean.filter((v) => v !== null && v > 0) as number[]);
	if (!all.length) return 0;
	const sorted = Float64Array.from(all).sort();
	return sorted[Math.max(0, Math.ceil(sorted.length * (1 - 1 / SPIKE_RARE)) - 1)]!;
}

/** A single short interval may show ten times the rate of all others. To keep those visible, the
 * axis ends above the usual values, and what exceeds it is marked at the top. */
export function axisTop(lines: PlotLine[]): { top: number; clipped: boolean } {
	const max = largest(lines.map((l) => l.max));
	const usual = usualTop(lines);
	if (!usual || max <= usual * SPIKE) return { top: roundTop(max * 1.02), clipped: false };
	const top = roundTop(usual * 1.5);
	return { top, clipped: max > top };
}

function labelOf(line: RawLine): string {
	if (line.thread !== null && line.thread !== undefined) return 'thread ' + line.thread;
	return line.cpu === null ? '' : 'CPU ' + line.cpu;
}

function sameTimes(lines: { t: ArrayLike<number> }[]): boolean {
	const first = lines[0]!.t;
	return lines.every(
		({ t }) =>
			t.length === first.length && t[0] === first[0] && t[t.length - 1] === first[first.length - 1],
	);
}

/** Lines of one counter may begin at different times: maps @values at @t to @times. */
function spread(values: Values, t: ArrayLike<number>, times: number[]): Values {
	const at = new Map<number, number | null>();
	for (let i = 0; i < t.length; i++) at.set(t[i]!, values[i]!);
	return times.map((time) => at.get(time) ?? null);
}

function sharedParts(lines: RawLine[]): { shared: number[]; running: number } {
	const shared = new Set<number>();
	let least = 1_000_000;
	for (const { running_ppm: ppm, mean } of lines)
		for (let i = 0; ppm && i < ppm.length; i++) {
			const v = mean[i];
			if (ppm[i]! >= 999_000 || v === null || Number.isNaN(v)) continue;
			shared.add(i);
			least = Math.min(least, ppm[i]!);
		}
	return { shared: [...shared].sort((a, b) => a - b), running: least / 1e6 };
}

function plotOf(key: string, raw: RawLine[], area: boolean, unit: Unit): Plot {
	const same = sameTimes(raw);
	const t = same
		? Array.from(raw[0]!.t)
		: [...new Set(raw.flatMap((l) => Array.from(l.t)))].sort((a, b) => a - b);
	const lines = raw.map((line): PlotLine => {
		const column = (c: ArrayLike<number | null>) => {
			const values = valuesOf(c, unit.factor);
			return same ? values : spread(values, line.t, t);
		};
		return {
			label: area ? line.name : labelOf(line),
			min: column(line.min),
			max: column(line.max),
			mean: column(line.mean),
		};
	});
	if (lines.length === 1) lines[0]!.label = '';
	const title = area ? (raw.length === 1 ? `${raw[0]!.name} samples` : 'Samples') : key;
	// The factor is already applied to the values.
	const shown = { ...unit, factor: 1 };
	const source = { unit: raw[0]!.unit, scale: raw[0]!.scale };
	return {
		key,
		title,
		area,
		unit: shown,
		source,
		t,
		lines,
		...axisTop(lines),
		...sharedParts(raw),
	};
}

/** Samples first, then the counters in the order in which they were asked for. */
export function makePlots(samples: RawLine[], counters: RawLine[]): Plot[] {
	const plots: Plot[] = [];
	if (samples.length) plots.push(plotOf(SAMPLES, samples, true, SAMPLE_RATE));
	const byName = new Map<string, RawLine[]>();
	for (const line of counters) {
		const known = byName.get(line.name);
		if (known) known.push(line);
		else byName.set(line.name, [line]);
	}
	for (const [name, lines] of byName)
		plots.push(plotOf(name, lines, false, rateUnit(name, lines[0]!.unit, lines[0]!.scale)));
	return plots;
}

export function storedPlots(timeline: Timeline): Plot[] {
	const samples = timeline.samples
		.filter((s) => s.t.length > 0)
		.map((s): RawLine => {
			const rate = smoothRate(s.t, s.count, timeline.to_ns, SAMPLES_A_STEP);
			return {
				name: s.event,
				unit: null,
				scale: 1,
				cpu: null,
				t: s.t,
				min: rate,
				max: rate,
				mean: rate,
			};
		});
	return makePlots(
		samples,
		timeline.counters.filter((c) => c.t.length > 0),
	);
}

/** The last point that begins at or before @ns; -1: before all of them. */
export function pointAt(t: ArrayLike<number>, ns: number): number {
	let [low, high] = [0, t.length];
	while (low < high) {
		const middle = (low + high) >> 1;
		if (t[middle]! <= ns) low = middle + 1;
		else high = middle;
	}
	return low - 1;
}

export interface Flag {
	/** Where on the width, 0…1. */
	part: number;
	kind: Mark['kind'];
	text: string;
}

const KINDS = ['lost', 'throttled', 'note'] as const;

function flagText(kind: Mark['kind'], marks: Mark[]): string {
	const count = marks.reduce((sum, m) => sum + (m.count ?? 1), 0);
	if (kind === 'lost') return `${count} ${count === 1 ? 'sample was' : 'samples were'} lost here`;
	if (kind === 'throttled')
		return `The kernel held back sampling here${count > 1 ? ` ${count} times` : ''}: fewer samples than asked for`;
	const texts = [...new Set(marks.map((m) => m.text ?? ''))].filter(Boolean);
	return texts.slice(0, 4).join('\n') + (texts.length > 4 ? `\nand ${texts.length - 4} more` : '');
}

/** Marks of one kind that would touch each other become one flag. */
export function flagsOf(marks: Mark[], range: Window, widthPx: number, flagPx: number): Flag[] {
	const flags: Flag[] = [];
	for (const kind of KINDS) {
		let group: Mark[] = [];
		const end = () => {
			if (group.length)
				flags.push({ part: partAt(group[0]!.ns, range), kind, text: flagText(kind, group) });
			group = [];
		};
		const inside = (m: Mark) => m.kind === kind && m.ns >= range.from && m.ns <= range.to;
		for (const mark of marks.filter(inside).sort((a, b) => a.ns - b.ns)) {
			const first = group[0];
			if (first && (partAt(mark.ns, range) - partAt(first.ns, range)) * widthPx > flagPx) end();
			group.push(mark);
		}
		end();
	}
	return flags.sort((a, b) => a.part - b.part);
}

/** The mean of all lines together in @w, weighted by time; null: nothing was counted there. */
export function meanIn(plot: Plot, w: Window): number | null {
	const { t, lines } = plot;
	if (!t.length) return null;
	const pitch = t.length > 1 ? (t[t.length - 1]! - t[0]!) / (t.length - 1) : w.to - w.from;
	let [sum, time] = [0, 0];
	for (let i = Math.max(pointAt(t, w.from), 0); i < t.length && t[i]! < w.to; i++) {
		const length = Math.min(t[i]! + pitch, w.to) - Math.max(t[i]!, w.from);
		if (length <= 0 || lines.every((l) => l.mean[i] === null)) continue;
		for (const line of lines) sum += (line.mean[i] ?? 0) * length;
		time += length;
	}
	return time ? sum / time : null;
}

/** Few samples a pixel would look like a fence instead of a rate: merges neighbours until each step
 * has about @least samples. */
export function smoothRate(
	t: ArrayLike<number>,
	count: ArrayLike<number>,
	toNs: number,
	least: number,
): Values {
	let total = 0;
	for (let i = 0; i < count.length; i++) total += count[i]!;
	const group = Math.min(
		Math.max(1, Math.ceil((least * count.length) / Math.max(total, 1))),
		Math.max(1, Math.ceil(count.length / 25)),
	);
	const out: Values = new Array(count.length);
	for (let i = 0; i < count.length; i += group) {
		const end = Math.min(i + group, count.length);
		let sum = 0;
		for (let k = i; k < end; k++) sum += count[k]!;
		const ns = (end < t.length ? t[end]! : toNs) - t[i]!;
		out.fill(ns > 0 ? (sum * 1e9) / ns : 0, i, end);
	}
	return out;
}

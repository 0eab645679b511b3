/* Positions of single samples: x is their time; y is the row of their function, or their address
 * within its region of memory. Pure. */
import type { Points } from '../../api/types';
import { pointAt } from './timeline_plots';

/** A named strip of the plot; `top` and `bottom` are parts of the height, from the top. */
export interface Strip {
	label: string;
	/** Longer label, for a title. */
	about: string;
	top: number;
	bottom: number;
	points: number;
}

export interface PointLayout {
	strips: Strip[];
	/** Of each point: part of the height, from the top. */
	y: Float32Array;
	/** Of each point: index into `colours`. */
	colour: Uint8Array;
	/** What the colours mean. */
	colours: string[];
}

const KIND_WORDS: Record<string, string> = {
	user: 'program',
	kernel: 'kernel',
	jit: 'compiled at run time',
	vdso: 'kernel code in the program',
	unknown: 'unknown',
};

/** Ranks keys by number of points, the most first; all from @max on share the last rank. */
function ranked(keys: ArrayLike<number>, kinds: number, max: number): Uint16Array {
	const counts = new Uint32Array(kinds);
	for (let i = 0; i < keys.length; i++) counts[keys[i]!]!++;
	const order = Array.from(counts.keys()).sort((a, b) => counts[b]! - counts[a]!);
	const place = new Uint16Array(kinds);
	order.forEach((key, at) => (place[key] = Math.min(at, max - 1)));
	return place;
}

/** The colour tells the event if there are several, otherwise the kind of code. */
function colouring(points: Points): { colour: Uint8Array; colours: string[] } {
	const colour = new Uint8Array(points.t.length);
	if (points.events.length > 1) {
		for (let i = 0; i < colour.length; i++) colour[i] = points.event[i]! % 8;
		return { colour, colours: points.events.slice(0, 8) };
	}
	const kinds = [...new Set(points.names.map((n) => n[2] as string))];
	const ofFunction = points.names.map((n) => kinds.indexOf(n[2]));
	for (let i = 0; i < colour.length; i++) colour[i] = ofFunction[points.function[i]!]!;
	return { colour, colours: kinds.map((kind) => KIND_WORDS[kind] ?? kind) };
}

/** Spreads the points of one row vertically, always in the same way. */
function jitter(i: number): number {
	return (((i * 2654435761) >>> 16) & 1023) / 1023;
}

/** One row for each of the most frequent functions, one for all others. */
export function byFunction(points: Points, rowsMax: number): PointLayout {
	const { names } = points;
	const place = ranked(points.function, names.length, rowsMax);
	const rows = Math.max(1, Math.min(names.length, rowsMax));
	const strips: Strip[] = Array.from({ length: rows }, (_, i) => ({
		label: '',
		about: '',
		top: i / rows,
		bottom: (i + 1) / rows,
		points: 0,
	}));
	const members = new Array<number>(rows).fill(0);
	names.forEach(([name, module], i) => {
		const strip = strips[place[i]!]!;
		members[place[i]!]!++;
		strip.label = name;
		strip.about = module ? `${name} (${module})` : name;
	});
	strips.forEach((strip, i) => {
		if (members[i]! > 1) strip.label = strip.about = `${members[i]} other functions`;
	});
	const y = new Float32Array(points.t.length);
	for (let i = 0; i < y.length; i++) {
		const row = place[points.function[i]!]!;
		strips[row]!.points++;
		y[i] = (row + 0.2 + 0.6 * jitter(i)) / rows;
	}
	return { strips, y, ...colouring(points) };
}

/** Addresses further apart belong to different regions of memory. */
const FAR = 64 * 2 ** 20;

/** The region of each point: a file's code, or for data a sequence of near addresses. */
function regions(points: Points): { region: Uint32Array; labels: string[] } {
	const region = new Uint32Array(points.t.length);
	if (points.address_of === 'code') {
		const labels = [...new Set(points.names.map((n) => n[1]))];
		const ofFunction = points.names.map((n) => labels.indexOf(n[1]));
		for (let i = 0; i < region.length; i++) region[i] = ofFunction[points.function[i]!]!;
		return { region, labels: labels.map((l) => l || 'unknown') };
	}
	const order = Array.from(region.keys()).sort((a, b) => points.address[a]! - points.address[b]!);
	const labels: string[] = [];
	let last = -Infinity;
	for (const i of order) {
		const address = points.address[i]!;
		if (address - last > FAR) labels.push('0x' + address.toString(16));
		region[i] = labels.length - 1;
		last = address;
	}
	return { region, labels };
}

/** Each region is a strip, busy ones at the top; low addresses are at the bottom of a strip. */
export function byAddress(points: Points, stripsMax: number): PointLayout {
	const { region, labels } = regions(points);
	const place = ranked(region, labels.length, stripsMax);
	const count = Math.max(1, Math.min(labels.length, stripsMax));
	const low = new Float64Array(count).fill(Infinity);
	const high = new Float64Array(count).fill(-Infinity);
	const members = new Uint32Array(count);
	for (let i = 0; i < region.length; i++) {
		const at = place[region[i]!]!;
		low[at] = Math.min(low[at]!, points.address[i]!);
		high[at] = Math.max(high[at]!, points.address[i]!);
		members[at]!++;
	}
	const heights = Array.from(members, (n) => Math.sqrt(n) + Math.sqrt(region.length) * 0.15);
	const all = heights.reduce((a, b) => a + b, 0) || 1;
	let top = 0;
	const strips = heights.map((height, at): Strip => {
		const begin = top;
		top += height / all;
		const shared = labels.length > stripsMax && at === stripsMax - 1;
		const label = shared ? 'others' : (labels[place.indexOf(at)] ?? '');
		return { label, about: label, top: begin, bottom: top, points: members[at]! };
	});
	const y = new Float32Array(region.length);
	for (let i = 0; i < y.length; i++) {
		const at = place[region[i]!]!;
		const part = (points.address[i]! - low[at]!) / Math.max(high[at]! - low[at]!, 1);
		const { top: begin, bottom } = strips[at]!;
		y[i] = bottom - (bottom - begin) * (0.06 + 0.88 * part);
	}
	return { strips, y, ...colouring(points) };
}

/** Points sorted by time, as pointNear() needs them. */
function timeOrder(t: ArrayLike<number>): Uint32Array {
	const order = Uint32Array.from({ length: t.length }, (_, i) => i);
	for (let i = 1; i < t.length; i++)
		if (t[i]! < t[i - 1]!) return order.sort((a, b) => t[a]! - t[b]!);
	return order;
}

export interface PointSearch {
	t: ArrayLike<number>;
	y: Float32Array;
	order: Uint32Array;
	times: Float64Array;
}

export function pointSearch(t: ArrayLike<number>, y: Float32Array): PointSearch {
	const order = timeOrder(t);
	return { t, y, order, times: Float64Array.from(order, (i) => t[i]!) };
}

/** The point nearest to a position, or null if none is within @reachPx. @part null: ignores y. */
export function pointNear(
	search: PointSearch,
	ns: number,
	part: number | null,
	nsAPixel: number,
	heightPx: number,
	reachPx: number,
): number | null {
	const { order, times, y } = search;
	const from = pointAt(times, ns - reachPx * nsAPixel);
	let [best, distance] = [null as number | null, reachPx * reachPx];
	for (let k = Math.max(from, 0); k < order.length; k++) {
		const dx = (times[k]! - ns) / nsAPixel;
		if (dx > reachPx) break;
		const dy = part === null ? 0 : (y[order[k]!]! - part) * heightPx;
		const now = dx * dx + dy * dy;
		if (now <= distance) [best, distance] = [order[k]!, now];
	}
	return best;
}

/* Arithmetic of time ranges: what the timeline shows, zooming, panning, brushes. Pure. Times are
 * nanoseconds since the run began; positions are parts (0…1) of the width, or pixels (…px). */
import type { Window } from '../address';

/** Zooming in further shows nothing new. */
const MIN_SPAN_NS = 1000;

export function span(w: Window): number {
	return w.to - w.from;
}

export function timeAt(part: number, range: Window): number {
	return range.from + part * span(range);
}

export function partAt(ns: number, range: Window): number {
	return (ns - range.from) / Math.max(span(range), 1);
}

/** Moves @w into @whole; cuts it only if it is longer. */
export function fit(w: Window, whole: Window): Window {
	const length = Math.min(Math.max(span(w), MIN_SPAN_NS), span(whole));
	const from = Math.min(Math.max(w.from, whole.from), whole.to - length);
	return { from: Math.round(from), to: Math.round(from + length) };
}

/** @factor < 1 zooms in; the time at @part stays in place. */
export function zoomAround(range: Window, part: number, factor: number, whole: Window): Window {
	const length = Math.min(Math.max(span(range) * factor, MIN_SPAN_NS), span(whole));
	const from = timeAt(part, range) - part * length;
	return fit({ from, to: from + length }, whole);
}

export function pan(range: Window, byParts: number, whole: Window): Window {
	const by = byParts * span(range);
	return fit({ from: range.from + by, to: range.to + by }, whole);
}

/** Two fingers: keeps the times that they first touched under them. */
export function pinch(
	start: Window,
	was: [number, number],
	now: [number, number],
	whole: Window,
): Window {
	const held = Math.abs(was[1] - was[0]) || 0.01;
	const wide = Math.abs(now[1] - now[0]) || 0.01;
	const length = Math.min(Math.max((span(start) * held) / wide, MIN_SPAN_NS), span(whole));
	const middle = timeAt((was[0] + was[1]) / 2, start);
	const from = middle - ((now[0] + now[1]) / 2) * length;
	return fit({ from, to: from + length }, whole);
}

/** Returns null if everything is shown: the address then has no zoom. */
export function zoomOrAll(range: Window, whole: Window): Window | null {
	return span(range) >= span(whole) * 0.999 ? null : range;
}

export type Brush = 'window' | 'second';

/** What a pointer grabs: a new brush, an edge of one, or all of it. */
export interface Grip {
	brush: Brush;
	part: 'new' | 'from' | 'to' | 'all';
}

export interface Brushes {
	window: Window | null;
	second: Window | null;
}

/** The edge at @px, or null. The second brush is tried first, as it lies on top. */
export function gripAt(
	px: number,
	brushes: Brushes,
	range: Window,
	widthPx: number,
	reachPx: number,
): Grip | null {
	for (const brush of ['second', 'window'] as const) {
		const w = brushes[brush];
		if (!w) continue;
		const toFrom = Math.abs(partAt(w.from, range) * widthPx - px);
		const toTo = Math.abs(partAt(w.to, range) * widthPx - px);
		if (Math.min(toFrom, toTo) <= reachPx) return { brush, part: toFrom < toTo ? 'from' : 'to' };
	}
	return null;
}

/** The brush after the pointer that grabbed @grip at @startNs has moved to @nowNs. */
export function dragged(
	grip: Grip,
	before: Window | null,
	startNs: number,
	nowNs: number,
	whole: Window,
): Window {
	const inside = (ns: number) => Math.round(Math.min(Math.max(ns, whole.from), whole.to));
	if (grip.part === 'all' && before)
		return fit({ from: before.from + nowNs - startNs, to: before.to + nowNs - startNs }, whole);
	const fixed =
		grip.part === 'new' || !before ? startNs : grip.part === 'from' ? before.to : before.from;
	const [a, b] = [inside(fixed), inside(nowNs)];
	return { from: Math.min(a, b), to: Math.max(a, b, Math.min(a, b) + 1) };
}

/** `[` and `]`: moves one end of the brush to @ns. The other end is kept, or that of @range. */
export function setEdge(
	before: Window | null,
	edge: 'from' | 'to',
	ns: number,
	range: Window,
): Window {
	const at = Math.round(ns);
	if (edge === 'from')
		return { from: at, to: before && before.to > at ? before.to : Math.max(range.to, at + 1) };
	const to = Math.max(at, 1);
	return { from: before && before.from < to ? before.from : Math.min(range.from, to - 1), to };
}

const STEPS = [1, 2, 5];
const SECOND = 1e9;
const LONG_STEPS = [
	15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400,
].map((s) => s * SECOND);

/** The distance of ticks: 1, 2, 5 × 10ⁿ up to ten seconds, then 15 s, 30 s, 1 min … */
export function tickStep(spanNs: number, most: number): number {
	const least = spanNs / Math.max(most, 1);
	if (least > 10 * SECOND) return LONG_STEPS.find((s) => s >= least) ?? LONG_STEPS.at(-1)!;
	const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
	for (const step of STEPS) if (step * power >= least) return step * power;
	return 10 * power;
}

export function timeTicks(range: Window, most: number): { step: number; at: number[] } {
	const step = tickStep(span(range), most);
	const at: number[] = [];
	for (let n = Math.ceil(range.from / step); n * step <= range.to; n++) at.push(n * step);
	return { step, at };
}

/** Of a live run, at most the newest part of this length is shown. */
const LIVE_SPAN_NS = 30 * SECOND;
const LIVE_SPANS = [5, 10, 20, 30].map((s) => s * SECOND);

/** The visible range of a live run: grows in steps, then scrolls. */
export function liveRange(nowNs: number): Window {
	const length = LIVE_SPANS.find((s) => s >= nowNs) ?? LIVE_SPAN_NS;
	return nowNs <= length ? { from: 0, to: length } : { from: nowNs - length, to: nowNs };
}

const ASK_MARGIN = 0.5;
const ASK_COARSEST = 3.5;

/** The range to request, so that @visible can be drawn and moved a little at once; null: all. The
 * range requested @before is kept as long as it is fine enough. */
export function askRange(before: Window | null, visible: Window, whole: Window): Window | null {
	const length = span(visible);
	if (length >= span(whole) * 0.8) return null;
	const covers = before && before.from <= visible.from && before.to >= visible.to;
	if (covers && span(before) <= length * ASK_COARSEST) return before;
	return {
		from: Math.round(Math.max(whole.from, visible.from - length * ASK_MARGIN)),
		to: Math.round(Math.min(whole.to, visible.to + length * ASK_MARGIN)),
	};
}

/** Pixels of a moving range begin at multiples of their width: their values must not flicker. */
export function steadyPixels(range: Window, points: number): Window & { points: number } {
	const pixel = Math.max(1, Math.round(span(range) / points));
	const from = Math.floor(range.from / pixel) * pixel;
	const count = Math.ceil((range.to - from) / pixel);
	return { from, to: from + count * pixel, points: count };
}

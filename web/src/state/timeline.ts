/* What the timeline shows and what is being dragged on it. During a drag, `draft` is newer than the
 * address: drawing follows the pointer at once, while the address (and with it every other view) is
 * updated less often, to spare the browser's history and the server. */
import { computed, signal } from '@preact/signals';
import type { Mark } from '../api/types';
import type { Address, View, Window } from '../logic/address';
import type { Plot } from '../logic/timeline/timeline_plots';
import {
	liveRange,
	span,
	zoomOrAll,
	type Brush,
	type Brushes,
} from '../logic/timeline/timeline_range';
import { address, go } from './address';
import { width } from './layout';
import { hasEnded, isLive, run } from './runs';
import { px } from './scale';

/** The newest known time of a run, ns: from answers, or from its stream. */
const ends = signal<{ run: string; ns: number } | null>(null);
/** The plots that are drawn, and the run that they belong to. */
export const plots = signal<Plot[]>([]);
export const plotsOf = signal<string | null>(null);
export const marks = signal<Mark[]>([]);
/** Time at the pointer or the keyboard cursor, ns. */
export const cursor = signal<number | null>(null);
/** Space for the value axis, left of the lines; --axis of timeline.css. */
export const axisWidth = computed(() => px(46));
/** Width of the area that lines are drawn in, CSS pixels; 0 before it is laid out. */
export const plotWidth = signal(0);
/** Plots that the user switched on or off, by name of the counter. */
const switched = signal<ReadonlyMap<string, boolean>>(new Map());
/** Plots that phones show by default: the result must begin on the first screen. */
export const PHONE_PLOTS = 2;
export const hidden = computed<ReadonlySet<string>>(() => {
	const first = width.value === 'phone' ? PHONE_PLOTS : Infinity;
	const off = plots.value.filter((p, place) => !(switched.value.get(p.key) ?? place < first));
	return new Set(off.map((p) => p.key));
});
/** The next drag makes the second window, as Shift does: touch screens have no Shift. */
export const secondNext = signal(false);
const draft = signal<Partial<Brushes & { zoom: Window | null }>>({});

export function learnEnd(uuid: string, ns: number): void {
	const known = ends.peek();
	if (known?.run !== uuid || known.ns < ns) ends.value = { run: uuid, ns };
}

/** The newest time that is known of the run. */
export const nowNs = computed<number>(() => {
	const r = run.value;
	if (!r) return 0;
	if (ends.value?.run === r.uuid) return ends.value.ns;
	return Math.round((r.duration_s ?? 0) * 1e9);
});

/** How often questions about the whole of a live run are repeated, ms: the longer the run, the more
 * they cost and the less they change. */
export const liveAgain = computed<number>(() => (nowNs.value > 60e9 ? 10_000 : 2000));

/** The whole time axis: all of the run, and a little more while it goes on. */
export const whole = computed<Window>(() => {
	const r = run.value;
	const to = Math.max(nowNs.value, 1000);
	return { from: 0, to: r && isLive(r) ? Math.max(to, liveRange(to).to) : to };
});

/** True while the plots scroll with a run that goes on. */
export const following = computed<boolean>(() => {
	const r = run.value;
	return !!r && isLive(r) && !address.value.zoom && !draft.value.zoom;
});

export const visible = computed<Window>(() => {
	const zoom = draft.value.zoom !== undefined ? draft.value.zoom : address.value.zoom;
	const r = run.value;
	// A link may lead beyond the end of the run.
	const beyond = zoom && r && hasEnded(r) && zoom.from >= whole.value.to;
	if (zoom && !beyond) return zoom;
	return following.value ? liveRange(nowNs.value) : whole.value;
});

export const brushes = computed<Brushes>(() => ({
	window: draft.value.window !== undefined ? draft.value.window : address.value.window,
	second: draft.value.second !== undefined ? draft.value.second : address.value.second,
}));

const BRUSH_EVERY_MS = 100;
const ZOOM_REST_MS = 200;

let timer = 0;
let pushed = false;
let told = 0;

function tellAddress(more: Partial<Address> = {}): void {
	timer = 0;
	told = performance.now();
	const { window, second } = draft.peek();
	const change: Partial<Address> = { ...more };
	if (window !== undefined) change.window = window;
	if (second !== undefined) change.second = second;
	go(change, pushed);
	pushed = true;
}

/** Moves the brush during a drag. The first step can be undone by "back"; later ones replace it. */
export function brushTo(brush: Brush, w: Window | null): void {
	draft.value = { ...draft.peek(), [brush]: w };
	const wait = BRUSH_EVERY_MS - (performance.now() - told);
	if (!timer) timer = window.setTimeout(() => tellAddress(), Math.max(wait, 0));
}

/** Views of a single window: they are replaced by the comparison when a second one is made. */
const OF_ONE: readonly View[] = ['flame', 'functions'];

/** @compares: a second window was made, so show how the two differ. */
export function brushDone(compares = false): void {
	clearTimeout(timer);
	const { window, second } = draft.peek();
	const show: Partial<Address> =
		compares && second && OF_ONE.includes(address.peek().view) ? { view: 'diff' } : {};
	if (window !== undefined || second !== undefined) tellAddress(show);
	if (compares) secondNext.value = false;
	timer = 0;
	pushed = false;
	const { zoom } = draft.peek();
	draft.value = zoom === undefined ? {} : { zoom };
}

export function setBrush(brush: Brush, w: Window | null): void {
	const compares = brush === 'second' && !address.peek().second;
	brushTo(brush, w);
	brushDone(compares);
}

/** Clears a window. Without the first window the second means nothing: it becomes the first. */
export function clearBrush(brush: Brush): void {
	if (brush === 'window' && address.value.second)
		go({ window: address.value.second, second: null });
	else go({ [brush]: null });
}

export function clearBrushes(): void {
	if (address.value.window || address.value.second) go({ window: null, second: null });
}

let resting = 0;

function zoomSettled(): void {
	const { zoom } = draft.peek();
	clearTimeout(resting);
	if (zoom === undefined) return;
	go({ zoom }, true);
	const { zoom: _, ...rest } = draft.peek();
	draft.value = rest;
}

/** Zooms and pans come many times a second: only the last is written to the address. */
export function zoomTo(range: Window | null): void {
	const r = run.peek();
	const all = range && r && hasEnded(r) ? zoomOrAll(range, whole.peek()) : range;
	draft.value = { ...draft.peek(), zoom: all };
	clearTimeout(resting);
	resting = window.setTimeout(zoomSettled, ZOOM_REST_MS);
}

/** How far the visible range is behind a run that goes on, ns. */
export const behind = computed<number>(() =>
	Math.max(0, nowNs.value - Math.max(visible.value.to, 0)),
);

export function pause(): void {
	zoomTo({ ...visible.peek() });
	zoomSettled();
}

export function backToLive(): void {
	zoomTo(null);
	zoomSettled();
}

/** Keeps the visible range when the watched run has ended. */
export function stayAfterEnd(lastShown: Window): void {
	if (!address.peek().zoom && span(lastShown) < nowNs.peek() * 0.999)
		go({ zoom: { from: Math.round(lastShown.from), to: Math.round(lastShown.to) } }, true);
}

export function toggleHidden(key: string): void {
	switched.value = new Map(switched.peek()).set(key, hidden.peek().has(key));
}

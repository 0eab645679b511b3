/* What the timeline shows and what is being dragged on it. While one drags, `draft` is newer than the
 * address: drawing follows the pointer at once, the address (and with it every other view) follows as
 * fast as is good for the history of the browser and for the server. */
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

/** The end of what is known of a run, ns: from answers, or from its stream. */
const ends = signal<{ run: string; ns: number } | null>(null);
/** What is drawn, and the run that it belongs to. */
export const plots = signal<Plot[]>([]);
export const plotsOf = signal<string | null>(null);
export const marks = signal<Mark[]>([]);
/** Where the pointer or the keyboard is, ns. */
export const cursor = signal<number | null>(null);
/** Space for the value axis, left of the lines; --axis of timeline.css. */
export const axisWidth = computed(() => px(46));
/** Width of the area that lines are drawn in, CSS pixels; 0 before it is laid out. */
export const plotWidth = signal(0);
/** Plots that were switched on or off: names of counters. */
const switched = signal<ReadonlyMap<string, boolean>>(new Map());
/** Phones show the first ones if nothing is said: the result is to begin on the first screen. */
export const PHONE_PLOTS = 2;
export const hidden = computed<ReadonlySet<string>>(() => {
	const first = width.value === 'phone' ? PHONE_PLOTS : Infinity;
	const off = plots.value.filter((p, place) => !(switched.value.get(p.key) ?? place < first));
	return new Set(off.map((p) => p.key));
});
/** The next drag makes the second window, as Shift does: fingers have no Shift. */
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

/** How often what is asked of the whole of a run that goes on is asked again, ms: the longer it is, the more
 * it costs and the less there is to see. */
export const liveAgain = computed<number>(() => (nowNs.value > 60e9 ? 10_000 : 2000));

/** All that can be shown: the whole run, a little more than what is there while it goes on. */
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
	// A link may lead to where nothing is any more, or never was.
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

/** The brush while it is dragged. The first step can be undone by "back", the following replace it. */
export function brushTo(brush: Brush, w: Window | null): void {
	draft.value = { ...draft.peek(), [brush]: w };
	const wait = BRUSH_EVERY_MS - (performance.now() - told);
	if (!timer) timer = window.setTimeout(() => tellAddress(), Math.max(wait, 0));
}

/** Views of a single window, which give way to the comparison when there is a second. */
const OF_ONE: readonly View[] = ['flame', 'functions'];

/** @compares: a second window was made, and what one wants to see is how they differ. */
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

/** Without the first window the second means nothing: it takes its place. */
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

/** Zooms and pans come many a second: the address hears of the last. */
export function zoomTo(range: Window | null): void {
	const r = run.peek();
	const all = range && r && hasEnded(r) ? zoomOrAll(range, whole.peek()) : range;
	draft.value = { ...draft.peek(), zoom: all };
	clearTimeout(resting);
	resting = window.setTimeout(zoomSettled, ZOOM_REST_MS);
}

/** How far what is shown is behind a run that goes on, ns. */
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

/** The run has ended while it was watched: what was to be seen stays where it is. */
export function stayAfterEnd(lastShown: Window): void {
	if (!address.peek().zoom && span(lastShown) < nowNs.peek() * 0.999)
		go({ zoom: { from: Math.round(lastShown.from), to: Math.round(lastShown.to) } }, true);
}

export function toggleHidden(key: string): void {
	switched.value = new Map(switched.peek()).set(key, hidden.peek().has(key));
}

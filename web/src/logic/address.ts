/* The state that the address bar holds: any view can be shared as a link and comes back by reload.
 * Pure: text of a query ⇄ Address. Unknown or broken parts are ignored, never an error. */

/** Nanoseconds since the run began; `to` is exclusive. */
export interface Window {
	from: number;
	to: number;
}

export const VIEWS = [
	'flame',
	'functions',
	'diff',
	'histogram',
	'threads',
	'events',
	'output',
	'details',
] as const;
export type View = (typeof VIEWS)[number];

export const VIEW_NAMES: Record<View, string> = {
	flame: 'Flame graph',
	functions: 'Functions',
	diff: 'Diff',
	histogram: 'Histogram',
	threads: 'Threads',
	events: 'Events',
	output: 'Output',
	details: 'Details',
};

export const FLAME_MODES = ['plain', 'inverted', 'sandwich', 'ordered'] as const;
export type FlameMode = (typeof FLAME_MODES)[number];
const ROOT_PLACES = ['auto', 'top', 'bottom'] as const;
export type RootPlace = (typeof ROOT_PLACES)[number];
export const COLOURS = ['kind', 'module', 'name'] as const;
export type Colour = (typeof COLOURS)[number];
export const STREAMS = ['both', 'stdout', 'stderr'] as const;
export type OutputStream = (typeof STREAMS)[number];
export const DIFF_PARTS = ['flame', 'functions', 'counters'] as const;
export type DiffPart = (typeof DIFF_PARTS)[number];
const PLOTS = ['lines', 'points', 'addresses'] as const;
export type Plot = (typeof PLOTS)[number];
export const EVENT_PARTS = ['rows', 'groups', 'histogram', 'heatmap', 'flame'] as const;
export type EventPart = (typeof EVENT_PARTS)[number];

export interface Address {
	session: string | null;
	run: string | null;
	view: View;
	/** The brushed window: all views below the timeline show this window. */
	window: Window | null;
	/** The second brush: the differential is window → second. */
	second: Window | null;
	/** The range of the timeline; null: all of the run, or the newest part of a live one. */
	zoom: Window | null;
	/** Runs pinned for comparison. */
	a: string | null;
	b: string | null;
	/** Filters of the selection. */
	event: string | null;
	threads: string | null;
	pids: string | null;
	cpus: string | null;
	frames: string | null;
	/** Flame graph. */
	mode: FlameMode;
	function: string | null;
	module: string | null;
	/** Path of the node that is zoomed to: names from below the root, joined by a line feed. */
	focus: string | null;
	search: string | null;
	/** Where the root of the flame graph is; auto: as the screen suggests. */
	root: RootPlace;
	/** Also show boxes that are too light to be seen without zooming. */
	light: boolean;
	colour: Colour;
	/** Timeline. */
	plot: Plot;
	/** The part of a comparison that is shown. */
	diff: DiffPart;
	/** Histogram: a counter, or "weight:EVENT" for weights of samples; null: the first one. */
	counter: string | null;
	/** Logarithmic axes of the histogram. */
	logx: boolean;
	logy: boolean;
	/** Tables: a regular expression that rows must match, and "COLUMN.up" or "COLUMN.down". */
	filter: string | null;
	sort: string | null;
	/** Events: a table of the run, and how it is shown. */
	table: string | null;
	part: EventPart;
	/** Events: the condition that rows must meet. */
	where: string | null;
	/** Events: columns that rows are grouped by, "a,b". */
	by: string | null;
	/** Events: the column of statistics, histogram and heat map. */
	value: string | null;
	/** Events: the columns that are shown, "a,b"; null: those whose values differ. */
	columns: string | null;
	/** Output: the streams that are shown. */
	stream: OutputStream;
	/** The function whose code is shown over the flame graph, "name\nmodule". */
	annotate: string | null;
	/** Only the result, without the panes at its sides. */
	full: boolean;
}

export const HOME: Address = {
	session: null,
	run: null,
	view: 'flame',
	window: null,
	second: null,
	zoom: null,
	a: null,
	b: null,
	event: null,
	threads: null,
	pids: null,
	cpus: null,
	frames: null,
	mode: 'plain',
	function: null,
	module: null,
	focus: null,
	search: null,
	root: 'auto',
	light: false,
	colour: 'kind',
	plot: 'lines',
	diff: 'flame',
	counter: null,
	logx: false,
	logy: false,
	filter: null,
	sort: null,
	table: null,
	part: 'rows',
	where: null,
	by: null,
	value: null,
	columns: null,
	stream: 'both',
	annotate: null,
	full: false,
};

const WINDOWS = ['window', 'second', 'zoom'] as const;
const FLAGS = ['light', 'logx', 'logy', 'full'] as const;
const CHOICES = {
	view: VIEWS,
	mode: FLAME_MODES,
	root: ROOT_PLACES,
	colour: COLOURS,
	plot: PLOTS,
	part: EVENT_PARTS,
	stream: STREAMS,
	diff: DIFF_PARTS,
} as const;
const TEXTS = [
	'session',
	'run',
	'a',
	'b',
	'event',
	'threads',
	'pids',
	'cpus',
	'frames',
	'function',
	'module',
	'focus',
	'search',
	'counter',
	'filter',
	'sort',
	'table',
	'where',
	'by',
	'value',
	'columns',
	'annotate',
] as const;

function parseWindow(text: string | null): Window | null {
	const found = /^(\d{1,16})-(\d{1,16})$/.exec(text ?? '');
	if (!found) return null;
	const [from, to] = [Number(found[1]), Number(found[2])];
	return from < to ? { from, to } : null;
}

/** "?run=…&window=100-200" → Address. */
export function parseAddress(query: string): Address {
	const words = new URLSearchParams(query);
	const out = { ...HOME } as Record<string, unknown>;
	for (const name of TEXTS) out[name] = words.get(name) || null;
	for (const name of WINDOWS) out[name] = parseWindow(words.get(name));
	for (const name of FLAGS) out[name] = words.get(name) === '1';
	for (const [name, choices] of Object.entries(CHOICES)) {
		const word = words.get(name) ?? '';
		if ((choices as readonly string[]).includes(word)) out[name] = word;
	}
	return out as unknown as Address;
}

/** The shortest query that means this address: "" for home. */
export function formatAddress(address: Address): string {
	const words = new URLSearchParams();
	for (const name of TEXTS) if (address[name]) words.set(name, address[name]);
	for (const name of Object.keys(CHOICES) as (keyof typeof CHOICES)[])
		if (address[name] !== HOME[name]) words.set(name, address[name]);
	for (const name of WINDOWS) {
		const w = address[name];
		if (w) words.set(name, `${Math.round(w.from)}-${Math.round(w.to)}`);
	}
	for (const name of FLAGS) if (address[name]) words.set(name, '1');
	const text = words.toString();
	return text ? '?' + text : '';
}

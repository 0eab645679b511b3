/* Colours of boxes. They are light in the light theme and dark in the dark one, so that one colour
 * of text is readable on all of them (at least 4.5 : 1; checked by test/flame_colours.test.ts). */
import type { FunctionName } from '../../api/types';
import type { Colour } from '../address';
import { shareChange } from './flame_diff';
import type { FlameGraph } from './flame_layout';
import type { FlameMatches } from './flame_search';

export type FlameColour = Colour | 'change';
export type Rgb = [number, number, number];

/** Colour of text on boxes; the same as --ink in tokens.css. */
export const INK: Record<'light' | 'dark', Rgb> = {
	light: [0x18, 0x20, 0x26],
	dark: [0xe9, 0xee, 0xf0],
};

function hslToRgb(hue: number, saturation: number, lightness: number): Rgb {
	const reach = saturation * Math.min(lightness, 1 - lightness);
	const channel = (n: number) => {
		const k = (n + hue / 30) % 12;
		return Math.round(255 * (lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
	};
	return [channel(0), channel(8), channel(4)];
}

/** The colour as a little-endian pixel of a canvas. */
export function pixel([r, g, b]: Rgb): number {
	return (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
}

function cssOf(p: number): string {
	return `rgb(${p & 255} ${(p >> 8) & 255} ${(p >> 16) & 255})`;
}

/** A hash of @text, 0 … 1; the same everywhere and always. */
export function textHash(text: string): number {
	let h = 2166136261;
	for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	h ^= h >>> 15;
	return ((Math.imul(h, 2246822519) >>> 0) % 4096) / 4096;
}

interface Tone {
	hue: number;
	saturation: number;
}

const KINDS: Record<string, Tone & { label: string; note: string }> = {
	user: {
		hue: 30,
		saturation: 0.9,
		label: 'Program',
		note: 'code of the program and its libraries',
	},
	inlined: {
		hue: 54,
		saturation: 0.8,
		label: 'Inlined',
		note: 'a function that the compiler put into the one that calls it',
	},
	kernel: { hue: 207, saturation: 0.75, label: 'Kernel', note: 'the operating system' },
	jit: { hue: 135, saturation: 0.5, label: 'Just in time', note: 'code made while it ran' },
	vdso: {
		hue: 285,
		saturation: 0.5,
		label: 'vDSO',
		note: 'kernel code that runs in the program, such as reading the clock',
	},
	unknown: { hue: 220, saturation: 0.06, label: 'Unknown', note: 'no name was found for it' },
};

function kindOf(kind: string, inlined: boolean): string {
	if (inlined && kind === 'user') return 'inlined';
	return kind in KINDS ? kind : 'unknown';
}

const HUE_VARIETY = 14;

/** @variety, 0 … 1, varies the shade, so that neighbours of one tone can be told apart. */
function shade(tone: Tone, variety: number, dark: boolean): number {
	const hue = (tone.hue + (variety - 0.5) * HUE_VARIETY + 360) % 360;
	// Yellow and green are brighter to the eye than their lightness says.
	const glare = Math.max(0, Math.cos(((hue - 75) * Math.PI) / 180));
	const lightness = dark ? (0.26 + variety * 0.08) * (1 - 0.28 * glare) : 0.71 + variety * 0.11;
	return pixel(hslToRgb(hue, tone.saturation * (dark ? 0.62 : 1), lightness));
}

function toneOf(name: FunctionName, colour: Colour, inlined: boolean): Tone {
	if (colour === 'kind') return KINDS[kindOf(name[2], inlined)]!;
	if (colour === 'module')
		return { hue: textHash(name[1]) * 360, saturation: 0.35 + textHash('~' + name[1]) * 0.45 };
	return { hue: textHash(name[0]) * 62, saturation: 0.85 };
}

const PALE: Tone = { hue: 210, saturation: 0.05 };
const MATCH: Tone = { hue: 312, saturation: 0.75 };
const MORE: Tone = { hue: 6, saturation: 0.85 };
const LESS: Tone = { hue: 212, saturation: 0.8 };

function changeShade(change: number, largest: number, dark: boolean): number {
	const strength = largest ? Math.sqrt(Math.min(1, Math.abs(change) / largest)) : 0;
	const { hue, saturation } = change > 0 ? MORE : LESS;
	const lightness = dark ? 0.24 + strength * 0.1 : 0.9 - strength * 0.2;
	return pixel(hslToRgb(hue, saturation * strength * (dark ? 0.75 : 1), lightness));
}

export interface FlamePaint {
	fills: Uint32Array;
	/** Nodes whose share has become smaller, in a differential. */
	striped: Uint8Array | null;
}

export function paintOf(
	graph: FlameGraph,
	colour: FlameColour,
	dark: boolean,
	matches: FlameMatches | null,
): FlamePaint {
	const fills = new Uint32Array(graph.count);
	const striped = colour === 'change' ? new Uint8Array(graph.count) : null;
	let largest = 0;
	if (striped)
		for (let n = 1; n < graph.count; n++)
			largest = Math.max(largest, Math.abs(shareChange(graph, n)));
	/* Each name's colour is computed once, and once more for where the function is inlined. */
	const known = new Map<number, number>();
	for (let n = 0; n < graph.count; n++) {
		const name = graph.names[graph.name[n]!] ?? ['', '', 'unknown'];
		if (matches) {
			const tone = matches.nodes[n] ? MATCH : PALE;
			fills[n] = shade(tone, matches.nodes[n] ? textHash(name[0]) : 0.9, dark);
		} else if (n === 0) fills[n] = shade(PALE, 0.5, dark);
		else if (colour === 'change') {
			const change = shareChange(graph, n);
			fills[n] = changeShade(change, largest, dark);
			// Changes that may be noise get no stripes.
			striped![n] = change < -largest / 50 ? 1 : 0;
		} else {
			const key = graph.name[n]! * 2 + (graph.inlined[n] ? 1 : 0);
			let fill = known.get(key);
			if (fill === undefined) {
				const tone = toneOf(name, colour, graph.inlined[n] === 1);
				fill = shade(tone, textHash(name[0]), dark);
				known.set(key, fill);
			}
			fills[n] = fill;
		}
	}
	return { fills, striped };
}

interface LegendEntry {
	label: string;
	note: string;
	colour: string;
	striped?: boolean;
}

const LEGEND_MODULES = 8;

function moduleLegend(graph: FlameGraph, dark: boolean): LegendEntry[] {
	const weights = new Map<string, number>();
	for (let n = 1; n < graph.count; n++) {
		const module = graph.names[graph.name[n]!]?.[1] ?? '';
		weights.set(module, (weights.get(module) ?? 0) + graph.self[n]!);
	}
	const entry = (module: string): LegendEntry => ({
		label: module || 'no module',
		note: 'functions of this file',
		colour: cssOf(shade(toneOf(['', module, 'user'], 'module', false), 0.5, dark)),
	});
	return [...weights]
		.sort((a, b) => b[1] - a[1])
		.slice(0, LEGEND_MODULES)
		.map(([module]) => entry(module));
}

/** Legend while searching: colours only tell matches from the rest. */
export function searchLegend(dark: boolean): LegendEntry[] {
	return [
		{ label: 'found', note: 'underlined, too', colour: cssOf(shade(MATCH, 0.5, dark)) },
		{ label: 'other', note: 'does not match', colour: cssOf(shade(PALE, 0.9, dark)) },
	];
}

/** What the colours mean, for those that occur in @graph. */
export function legendOf(graph: FlameGraph, colour: FlameColour, dark: boolean): LegendEntry[] {
	if (colour === 'name') return [];
	if (colour === 'module') return moduleLegend(graph, dark);
	if (colour === 'change') {
		const entry = (label: string, note: string, change: number, striped = false) => {
			return { label, note, striped, colour: cssOf(changeShade(change, 1, dark)) };
		};
		return [
			entry('− less', 'its share has become smaller', -1, true),
			entry('± same', 'its share is as before', 0),
			entry('+ more', 'its share has become larger', 1),
		];
	}
	const seen = new Set<string>();
	for (let n = 1; n < graph.count; n++) {
		const name = graph.names[graph.name[n]!];
		if (name) seen.add(kindOf(name[2], graph.inlined[n] === 1));
	}
	return Object.entries(KINDS)
		.filter(([kind]) => seen.has(kind))
		.map(([, kind]) => ({
			label: kind.label,
			note: kind.note,
			colour: cssOf(shade(kind, 0.5, dark)),
		}));
}

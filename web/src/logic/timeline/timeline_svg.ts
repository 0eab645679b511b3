/* The timeline as an SVG file: title, plots with names and units, value axes, one time axis,
 * windows. The file is self-contained: no external fonts, styles or scripts. Pure. */
import type { Window } from '../address';
import type { Plot, Values } from './timeline_plots';
import { partAt, span, timeTicks } from './timeline_range';
import { formatCount, formatDuration, formatTime } from '../units';

export interface Ink {
	ink: string;
	dim: string;
	line: string;
	surface: string;
	accent: string;
	second: string;
	series: string[];
}

interface Picture {
	title: string;
	plots: Plot[];
	range: Window;
	window: Window | null;
	second: Window | null;
	ink: Ink;
	width: number;
}

const NAMES = 150;
const AXIS = 46;
const PAD = 16;
const HEAD = 44;
const ROW = 84;
const GAP = 14;
const FOOT = 30;
const BANDS_MAX = 4;

/** Names come from the measured program: they must be escaped, whatever they contain. */
export function escapeXml(text: string): string {
	return text
		.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd]/g, '\ufffd')
		.replace(/&/g, '&amp;')
		.replace(/</g, '&lt;')
		.replace(/>/g, '&gt;')
		.replace(/"/g, '&quot;');
}

function round(value: number): string {
	return String(Math.round(value * 10) / 10);
}

interface Frame {
	left: number;
	width: number;
	top: number;
	height: number;
}

/** Ranges [first, end) of points with values; between them there are gaps. */
export function runsOf(values: Values, t: number[], range: Window): [number, number][] {
	const out: [number, number][] = [];
	let first = -1;
	for (let i = 0; i <= values.length; i++) {
		const there =
			i < values.length && values[i] !== null && t[i]! >= range.from && t[i]! <= range.to;
		if (there && first < 0) first = i;
		if (!there && first >= 0) {
			out.push([first, i]);
			first = -1;
		}
	}
	return out;
}

function place(plot: Plot, range: Window, frame: Frame) {
	const x = (i: number) => round(frame.left + partAt(plot.t[i]!, range) * frame.width);
	const y = (v: number) =>
		round(frame.top + frame.height * (1 - Math.min(Math.max(v / plot.top, 0), 1)));
	return { x, y };
}

function linePath(
	values: Values,
	plot: Plot,
	range: Window,
	frame: Frame,
	closed: boolean,
): string {
	const { x, y } = place(plot, range, frame);
	return runsOf(values, plot.t, range)
		.map(([first, end]) => {
			let path = '';
			for (let i = first; i < end; i++)
				path += `${i === first ? 'M' : 'L'}${x(i)} ${y(values[i]!)}`;
			return closed ? `${path}L${x(end - 1)} ${y(0)}L${x(first)} ${y(0)}Z` : path;
		})
		.join('');
}

function bandPath(min: Values, max: Values, plot: Plot, range: Window, frame: Frame): string {
	const { x, y } = place(plot, range, frame);
	return runsOf(max, plot.t, range)
		.map(([first, end]) => {
			let path = '';
			for (let i = first; i < end; i++) path += `${i === first ? 'M' : 'L'}${x(i)} ${y(max[i]!)}`;
			for (let i = end - 1; i >= first; i--) path += `L${x(i)} ${y(min[i] ?? 0)}`;
			return path + 'Z';
		})
		.join('');
}

function text(x: number, y: number, words: string, attributes: string): string {
	return `<text x="${round(x)}" y="${round(y)}" ${attributes}>${escapeXml(words)}</text>`;
}

function line(x1: number, y1: number, x2: number, y2: number, colour: string): string {
	return `<path d="M${round(x1)} ${round(y1)}L${round(x2)} ${round(y2)}" stroke="${colour}" fill="none"/>`;
}

function plotSvg(plot: Plot, at: number, p: Picture, frame: Frame): string {
	const { ink } = p;
	const right = frame.left + frame.width;
	const out: string[] = [];
	for (const part of [0, 0.5, 1]) {
		const y = frame.top + frame.height * (1 - part);
		out.push(line(frame.left, y, right, y, ink.line));
		const label = formatCount(plot.top * part).replace(' ', '');
		out.push(
			text(frame.left - 6, y + 3.5, label, `text-anchor="end" font-size="10" fill="${ink.dim}"`),
		);
	}
	const named = `font-size="12" font-weight="600" fill="${ink.ink}"`;
	out.push(text(PAD, frame.top + 11, plot.title, named));
	const unit = plot.unit.suffix
		? `${plot.unit.style === 'bytes' ? 'B' : ''}${plot.unit.suffix}`
		: '';
	out.push(text(PAD, frame.top + 26, unit, `font-size="11" fill="${ink.dim}"`));
	plot.lines.forEach((l, i) => {
		const colour = ink.series[(plot.lines.length > 1 ? i : at) % ink.series.length]!;
		if (plot.area)
			out.push(
				`<path d="${linePath(l.mean, plot, p.range, frame, true)}" fill="${colour}" fill-opacity="0.22"/>`,
			);
		else if (plot.lines.length <= BANDS_MAX)
			out.push(
				`<path d="${bandPath(l.min, l.max, plot, p.range, frame)}" fill="${colour}" fill-opacity="0.25"/>`,
			);
		out.push(
			`<path d="${linePath(l.mean, plot, p.range, frame, false)}" fill="none" stroke="${colour}" stroke-width="1.25"/>`,
		);
	});
	for (const i of clippedAt(plot, p.range)) {
		const x = frame.left + partAt(plot.t[i]!, p.range) * frame.width;
		const y = frame.top;
		out.push(`<path d="M${round(x)} ${round(y)}l-4 6h8z" fill="${ink.ink}"/>`);
	}
	return out.join('\n');
}

/** Where values exceed the axis: the first index of each sequence. */
function clippedAt(plot: Plot, range: Window): number[] {
	if (!plot.clipped) return [];
	const beyond = (i: number) => plot.lines.some((l) => (l.max[i] ?? 0) > plot.top);
	const out: number[] = [];
	for (let i = 0; i < plot.t.length; i++)
		if (plot.t[i]! >= range.from && plot.t[i]! <= range.to && beyond(i) && !(i && beyond(i - 1)))
			out.push(i);
	return out;
}

function windowSvg(w: Window, name: string, colour: string, p: Picture, all: Frame): string {
	const clip = (ns: number) => Math.min(Math.max(partAt(ns, p.range), 0), 1) * all.width;
	const [from, to] = [clip(w.from), clip(w.to)];
	if (to <= from) return '';
	const label = `${name} ${formatDuration(span(w))}`.trim();
	const attributes = `text-anchor="middle" font-size="11" font-weight="600" fill="${colour}"`;
	return (
		`<rect x="${round(all.left + from)}" y="${round(all.top)}" width="${round(to - from)}" height="${round(all.height)}" fill="${colour}" fill-opacity="0.13" stroke="${colour}"/>` +
		text(all.left + (from + to) / 2, all.top - 4, label, attributes)
	);
}

function axisSvg(p: Picture, all: Frame): string {
	const { step, at } = timeTicks(p.range, all.width / 90);
	const bottom = all.top + all.height;
	return at
		.map((ns) => {
			const x = all.left + partAt(ns, p.range) * all.width;
			return (
				line(x, all.top, x, bottom + 5, p.ink.line) +
				text(
					x,
					bottom + 18,
					formatTime(ns, step),
					`text-anchor="middle" font-size="11" fill="${p.ink.dim}"`,
				)
			);
		})
		.join('\n');
}

export function timelineSvg(p: Picture): string {
	const left = PAD + NAMES + AXIS;
	const all: Frame = {
		left,
		width: p.width - left - PAD,
		top: HEAD,
		height: p.plots.length * (ROW + GAP) - GAP,
	};
	const height = HEAD + all.height + FOOT;
	const rows = p.plots.map((plot, i) =>
		plotSvg(plot, i, p, { ...all, top: HEAD + i * (ROW + GAP), height: ROW }),
	);
	const windows = [
		p.window && windowSvg(p.window, p.second ? 'A' : '', p.ink.accent, p, all),
		p.second && windowSvg(p.second, 'B', p.ink.second, p, all),
	].filter(Boolean);
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" width="${p.width}" height="${height}" viewBox="0 0 ${p.width} ${height}" font-family="system-ui, 'DejaVu Sans', sans-serif">`,
		`<title>${escapeXml(p.title)}</title>`,
		`<rect width="100%" height="100%" fill="${p.ink.surface}"/>`,
		text(PAD, 24, p.title, `font-size="15" font-weight="600" fill="${p.ink.ink}"`),
		axisSvg(p, all),
		...rows,
		...windows,
		'</svg>',
		'',
	].join('\n');
}

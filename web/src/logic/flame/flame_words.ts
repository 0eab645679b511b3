/* A node of a flame graph in words, for tooltips and screen readers. */
import { changeText, shareChange } from './flame_diff';
import type { FlameGraph } from './flame_layout';
import { nameOf } from './flame_path';
import { formatCount, formatDuration, formatShare } from '../units';

interface NodeWords {
	name: string;
	module: string;
	/** Labels and values: "Total", "12.3 % · 45 ms". */
	facts: [string, string][];
}

const NS = /^(ns|nsec|nanoseconds?)$/i;

/** Clock events count nanoseconds even if the server gives no unit. */
export function weightUnit(event: string | null, unit: string | null): string | null {
	return unit ?? (/(^|\/|:)(cpu|task)-clock/.test(event ?? '') ? 'ns' : null);
}

export function weightText(weight: number, unit: string | null): string {
	if (unit && NS.test(unit)) return formatDuration(weight);
	return formatCount(weight) + (unit ? ' ' + unit : '');
}

function share(part: number, whole: number): string {
	return formatShare(whole ? part / whole : 0);
}

function samplesText(graph: FlameGraph, weight: number): string | null {
	if (graph.samples === null || !graph.whole) return null;
	const samples = Math.round((weight / graph.whole) * graph.samples);
	return `${samples.toLocaleString('en')} ${samples === 1 ? 'sample' : 'samples'}`;
}

function changeFacts(graph: FlameGraph, node: number): [string, string][] {
	const c = graph.change!;
	const side = (part: number, whole: number) =>
		`${share(part, whole)} · ${weightText(part, graph.unit)}`;
	return [
		['Before', side(c.before[node]!, c.wholeBefore)],
		['After', side(c.after[node]!, c.wholeAfter)],
		['Change of share', changeText(shareChange(graph, node))],
	];
}

function timeFacts(graph: FlameGraph, node: number): [string, string][] {
	const { from, to } = graph.time!;
	const at = (x: number) => from + x * (to - from);
	const [begin, end] = [at(graph.x0[node]!), at(graph.x1[node]!)];
	return [
		['Begins at', formatDuration(begin)],
		['Lasts', formatDuration(end - begin)],
	];
}

export function nodeWords(graph: FlameGraph, node: number): NodeWords {
	const name = nameOf(graph, node);
	const module = graph.names[graph.name[node]!]?.[1] ?? '';
	if (graph.change) return { name, module, facts: changeFacts(graph, node) };
	if (graph.time) return { name, module, facts: timeFacts(graph, node) };
	const total = graph.total[node]!;
	const self = graph.self[node]!;
	const facts: [string, string][] = [
		['Total', `${share(total, graph.whole)} · ${weightText(total, graph.unit)}`],
		['Self', `${share(self, graph.whole)} · ${weightText(self, graph.unit)}`],
	];
	const samples = samplesText(graph, total);
	if (samples) facts.unshift(['Samples', samples]);
	if (node > 0)
		facts.push(['Share of its parent box', share(total, graph.total[graph.parent[node]!]!)]);
	if (graph.inlined[node]) facts.push(['Inlined', 'the compiler put it into its caller']);
	return { name, module, facts };
}

/** The same as one line. */
export function nodeSentence(graph: FlameGraph, node: number): string {
	const { name, module, facts } = nodeWords(graph, node);
	const place = module ? ` in ${module}` : '';
	return `${name}${place}. ${facts.map(([what, much]) => `${what}: ${much}`).join('. ')}.`;
}

/** The text on a box. In a differential the change comes last: narrow boxes cut it off first. */
export function nodeLabel(graph: FlameGraph, node: number): string {
	const name = nameOf(graph, node);
	return graph.change && node > 0 ? `${name} ${changeText(shareChange(graph, node))}` : name;
}

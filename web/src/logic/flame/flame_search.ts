/* Search in a flame graph: the matching nodes, and their share of the whole. */
import type { FunctionName } from '../../api/types';
import type { FlameGraph } from './flame_layout';

export interface FlameMatches {
	/** 1 for each node whose function matches. */
	nodes: Uint8Array;
	/** Number of different functions that match. */
	functions: number;
	/** Share of the whole; a match below another match is not counted again. */
	share: number;
}

/** Finds text in names or modules, ignoring case, or /a regular expression/; null if invalid. */
export function matcher(search: string): ((name: FunctionName) => boolean) | null {
	const found = /^\/(.+)\/?$/s.exec(search);
	if (!found) {
		const text = search.toLowerCase();
		return ([name, module]) =>
			name.toLowerCase().includes(text) || module.toLowerCase().includes(text);
	}
	try {
		const pattern = new RegExp(found[1]!.replace(/\/$/, ''), 'i');
		return ([name, module]) => pattern.test(name) || pattern.test(module);
	} catch {
		return null;
	}
}

/** Cache: the canvas and the search field ask the same of a graph. */
const latest = new WeakMap<FlameGraph, { search: string; matches: FlameMatches | null }>();

/** Returns null if nothing is searched, or if the expression is not valid. */
export function searchGraph(
	graph: FlameGraph,
	search: string | null | undefined,
): FlameMatches | null {
	if (!search) return null;
	let known = latest.get(graph);
	if (known?.search !== search) {
		known = { search, matches: findMatches(graph, search) };
		latest.set(graph, known);
	}
	return known.matches;
}

function findMatches(graph: FlameGraph, search: string): FlameMatches | null {
	const matches = matcher(search);
	if (!matches) return null;
	const byName = graph.names.map(matches);
	const nodes = new Uint8Array(graph.count);
	/* Parents come first, so it is known here whether an ancestor matched. */
	const covered = new Uint8Array(graph.count);
	const seen = new Set<number>();
	let share = 0;
	for (let n = 1; n < graph.count; n++) {
		const above = covered[graph.parent[n]!]!;
		if (byName[graph.name[n]!]) {
			nodes[n] = 1;
			seen.add(graph.name[n]!);
			if (!above) share += graph.x1[n]! - graph.x0[n]!;
		}
		covered[n] = above | nodes[n]!;
	}
	return { nodes, functions: seen.size, share };
}

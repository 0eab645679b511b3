/* Navigation in a flame graph: from a node to its path and back, and to its neighbours. */
import type { FlameGraph } from './flame_layout';

/** Nodes from the child of the root down to @node. */
export function ancestry(graph: FlameGraph, node: number): number[] {
	const out: number[] = [];
	for (let n = node; n > 0; n = graph.parent[n]!) out.push(n);
	return out.reverse();
}

export function nameOf(graph: FlameGraph, node: number): string {
	return graph.names[graph.name[node]!]?.[0] ?? '';
}

/** Separates a name from the node's number among siblings of that name, from the second on. */
const NUMBERED = '\t';

function wordOf(graph: FlameGraph, node: number): string {
	const name = nameOf(graph, node);
	let number = 1;
	for (const sibling of childrenOf(graph, graph.parent[node]!)) {
		if (sibling === node) break;
		if (nameOf(graph, sibling) === name) number++;
	}
	return number > 1 ? name + NUMBERED + number : name;
}

/** The path as the address holds it; null for the root. */
export function pathOf(graph: FlameGraph, node: number): string | null {
	return node > 0
		? ancestry(graph, node)
				.map((n) => wordOf(graph, n))
				.join('\n')
		: null;
}

/** Children from left to right. */
function childrenOf(graph: FlameGraph, node: number): number[] {
	const row = graph.rows[graph.depth[node]! + 1];
	if (!row) return [];
	let low = 0;
	let high = row.length;
	// Rows are sorted by the positions of the parents, so the children of a node are adjacent.
	while (low < high) {
		const middle = (low + high) >> 1;
		const parent = graph.parent[row[middle]!]!;
		if (graph.x0[parent]! >= graph.x0[node]!) high = middle;
		else low = middle + 1;
	}
	const out: number[] = [];
	for (let i = low; i < row.length; i++) {
		const parent = graph.parent[row[i]!]!;
		if (parent === node) out.push(row[i]!);
		else if (graph.x0[parent]! > graph.x0[node]!) break;
	}
	return out;
}

function childNamed(graph: FlameGraph, node: number, word: string): number | undefined {
	const [name, number = '1'] = word.split(NUMBERED);
	const same = childrenOf(graph, node).filter((n) => nameOf(graph, n) === name);
	return same[Number(number) - 1] ?? same[0];
}

/** Follows @path; ends at the last node found if a part is not in this graph (another window …). */
export function findPath(
	graph: FlameGraph,
	path: string | null,
): { node: number; missing: string[] } {
	const words = path ? path.split('\n') : [];
	let node = 0;
	for (const [at, word] of words.entries()) {
		const next = graph.count ? childNamed(graph, node, word) : undefined;
		if (next === undefined) return { node, missing: words.slice(at) };
		node = next;
	}
	return { node, missing: [] };
}

/** Returns -1 if @node has no children. */
export function broadestChild(graph: FlameGraph, node: number): number {
	const width = (n: number) => graph.x1[n]! - graph.x0[n]!;
	const children = childrenOf(graph, node);
	return children.length ? children.reduce((best, n) => (width(n) > width(best) ? n : best)) : -1;
}

/** Left (-1) or right (1) neighbour in the row, also of another parent; @node itself at the end. */
export function besideNode(graph: FlameGraph, node: number, step: 1 | -1): number {
	const row = graph.rows[graph.depth[node]!]!;
	const next = row[row.indexOf(node) + step];
	return next === undefined ? node : next;
}

/** Position among the siblings, from 1, and their number. */
export function placeAmongSiblings(graph: FlameGraph, node: number): { at: number; of: number } {
	if (node <= 0) return { at: 1, of: 1 };
	const siblings = childrenOf(graph, graph.parent[node]!);
	return { at: siblings.indexOf(node) + 1, of: siblings.length };
}

/** The stack in the folded format of other tools: from the root, separated by semicolons. */
export function foldedStack(graph: FlameGraph, node: number): string {
	return ancestry(graph, node)
		.map((n) => nameOf(graph, n).replaceAll(';', ':'))
		.join(';');
}

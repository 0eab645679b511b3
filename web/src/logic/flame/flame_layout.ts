/* Layout of a flame graph: turns the columns of a tree into positions, as fractions of the width,
 * and rows of nodes from left to right. Nothing here depends on pixels. */
import type { Column, FlameNodes, FunctionName } from '../../api/types';

export type ChildOrder = 'name' | 'weight';

/** Totals of two selections, for a differential. */
interface FlameChange {
	before: Column;
	after: Column;
	wholeBefore: number;
	wholeAfter: number;
}

/** Columns are indexed by node. Node 0 is the root, parents come before their children. */
export interface FlameGraph {
	names: FunctionName[];
	count: number;
	parent: Column;
	name: Column;
	self: Column;
	total: Column;
	inlined: Column;
	/** Weight of all samples, in `unit`; the root of a sandwich has less. */
	whole: number;
	/** Number of these samples, if known. */
	samples: number | null;
	unit: string | null;
	depth: Uint16Array;
	/** Left and right edge; the root has 0 and 1. */
	x0: Float64Array;
	x1: Float64Array;
	/** Nodes of each depth, from left to right. */
	rows: Uint32Array[];
	change?: FlameChange;
	/** The horizontal axis is time, between these, in ns since the run began. */
	time?: { from: number; to: number };
}

interface FlameSource {
	names: FunctionName[];
	nodes: FlameNodes;
	unit: string | null;
	/** Weight (by default that of the root) and number of all samples. */
	whole?: number;
	samples?: number;
}

/** The rank of each name when sorted by name and module. */
function ranksOfNames(names: FunctionName[]): Uint32Array {
	const order = Array.from(names.keys());
	const key = (i: number) => names[i]!;
	order.sort((a, b) => {
		const [x, y] = [key(a), key(b)];
		if (x[0] !== y[0]) return x[0] < y[0] ? -1 : 1;
		if (x[1] !== y[1]) return x[1] < y[1] ? -1 : 1;
		return a - b;
	});
	const rank = new Uint32Array(names.length);
	order.forEach((name, at) => (rank[name] = at));
	return rank;
}

/** All nodes, in an order that puts siblings from left to right. */
function orderOfNodes(
	names: FunctionName[],
	name: Column,
	width: Column,
	by: ChildOrder,
): Uint32Array {
	const rank = ranksOfNames(names);
	const start = new Uint32Array(names.length + 1);
	for (let n = 0; n < name.length; n++) start[rank[name[n]!]! + 1]!++;
	for (let r = 0; r < names.length; r++) start[r + 1]! += start[r]!;
	const order = new Uint32Array(name.length);
	for (let n = 0; n < name.length; n++) order[start[rank[name[n]!]!]!++] = n;
	// Sorting is stable: nodes of equal weight stay sorted by name.
	return by === 'weight' ? order.sort((a, b) => width[b]! - width[a]!) : order;
}

/** Lists of children: first[n], then next[…] until 0. */
function families(parent: Column, order: Uint32Array): { first: Uint32Array; next: Uint32Array } {
	const first = new Uint32Array(order.length);
	const next = new Uint32Array(order.length);
	for (let i = order.length - 1; i >= 0; i--) {
		const n = order[i]!;
		if (n === 0) continue;
		next[n] = first[parent[n]!]!;
		first[parent[n]!] = n;
	}
	return { first, next };
}

type Places = Pick<FlameGraph, 'depth' | 'x0' | 'x1' | 'rows'>;

/** @width decides how wide a node is; children together have no more than their parent. */
export function placeNodes(
	names: FunctionName[],
	parent: Column,
	name: Column,
	width: Column,
	by: ChildOrder,
): Places {
	const count = parent.length;
	const depth = new Uint16Array(count);
	const x0 = new Float64Array(count);
	const x1 = new Float64Array(count);
	const rows: Uint32Array[] = [];
	const { first, next } = families(parent, orderOfNodes(names, name, width, by));
	const scale = count && width[0]! > 0 ? 1 / width[0]! : 0;
	let row = count ? Uint32Array.of(0) : new Uint32Array(0);
	if (count) x1[0] = 1;
	while (row.length) {
		rows.push(row);
		const below: number[] = [];
		for (const n of row) {
			let x = x0[n]!;
			for (let c = first[n]!; c; c = next[c]!) {
				depth[c] = rows.length;
				x0[c] = x;
				x += width[c]! * scale;
				x1[c] = x;
				below.push(c);
			}
		}
		row = Uint32Array.from(below);
	}
	return { depth, x0, x1, rows };
}

/** @by name: positions hardly move when weights change, which a growing or brushed graph needs. */
export function layOutTree(source: FlameSource, by: ChildOrder = 'name'): FlameGraph {
	const { names, nodes, unit } = source;
	return {
		names,
		unit,
		samples: source.samples ?? null,
		count: nodes.parent.length,
		parent: nodes.parent,
		name: nodes.name,
		self: nodes.self,
		total: nodes.total,
		inlined: nodes.inlined,
		whole: source.whole ?? nodes.total[0] ?? 0,
		...placeNodes(names, nodes.parent, nodes.name, nodes.total, by),
	};
}

/* A flame graph in which the horizontal axis is time: what one thread did, from left to right. */
import type { FlameBoxes, FunctionName } from '../../api/types';
import type { FlameGraph } from './flame_layout';

/** Box numbers by depth, each row from left to right. */
function rowsOf(boxes: FlameBoxes): number[][] {
	const rows: number[][] = [];
	for (let i = 0; i < boxes.depth.length; i++) (rows[boxes.depth[i]!] ??= []).push(i);
	for (const row of rows) row?.sort((a, b) => boxes.from_ns[a]! - boxes.from_ns[b]!);
	return Array.from(rows, (row) => row ?? []);
}

/** Numbers the nodes by rows, after the root, so that parents come first. */
export function layOutTime(
	names: FunctionName[],
	boxes: FlameBoxes,
	time: { from: number; to: number },
): FlameGraph {
	const count = boxes.depth.length + 1;
	const length = Math.max(1, time.to - time.from);
	const parent = new Uint32Array(count);
	const name = new Uint32Array(count);
	const depth = new Uint16Array(count);
	const x0 = new Float64Array(count);
	const x1 = new Float64Array(count);
	const total = new Float64Array(count);
	const rows = [Uint32Array.of(0)];
	x1[0] = 1;
	total[0] = length;
	let node = 1;
	for (const row of rowsOf(boxes)) {
		const above = rows[rows.length - 1]!;
		const here = new Uint32Array(row.length);
		let at = 0;
		row.forEach((box, i) => {
			const from = boxes.from_ns[box]! - time.from;
			const to = boxes.to_ns[box]! - time.from;
			[x0[node], x1[node]] = [from / length, to / length];
			while (at + 1 < above.length && x1[above[at]!]! <= x0[node]!) at++;
			parent[node] = above[at] ?? 0;
			name[node] = boxes.name[box]!;
			depth[node] = rows.length;
			total[node] = to - from;
			here[i] = node++;
		});
		rows.push(here);
	}
	return {
		names,
		count,
		parent,
		name,
		self: withoutChildren(parent, total),
		total,
		inlined: new Uint8Array(count),
		whole: length,
		samples: null,
		unit: 'ns',
		depth,
		x0,
		x1,
		rows,
		time,
	};
}

function withoutChildren(parent: Uint32Array, total: Float64Array): Float64Array {
	const self = Float64Array.from(total);
	for (let n = 1; n < parent.length; n++) self[parent[n]!]! -= total[n]!;
	return self;
}

/** The time during which a node was on the stack. */
export function timeOf(graph: FlameGraph, node: number): { from: number; to: number } | null {
	if (!graph.time) return null;
	const { from, to } = graph.time;
	const at = (x: number) => Math.round(from + x * (to - from));
	return { from: at(graph.x0[node]!), to: at(graph.x1[node]!) };
}

/* Two selections as one flame graph: widths of nodes, and how much their shares have changed. */
import type { Column, Diff } from '../../api/types';
import { formatPoints } from '../tables/change';
import { placeNodes, type ChildOrder, type FlameGraph } from './flame_layout';

/** What the width of a node shows: its share before, its share after, or the mean of both. */
export type DiffWidth = 'before' | 'after' | 'both';

function mixed(before: Column, after: Column, b: number, a: number): Float64Array {
	const out = new Float64Array(before.length);
	for (let n = 0; n < out.length; n++) out[n] = before[n]! * b + after[n]! * a;
	return out;
}

export function layOutDiff(
	diff: Pick<Diff, 'names' | 'nodes' | 'total_before' | 'total_after'>,
	unit: string | null,
	width: DiffWidth = 'both',
	by: ChildOrder = 'name',
): FlameGraph {
	const { names, nodes, total_before: wholeBefore, total_after: wholeAfter } = diff;
	const { parent, name, total_before: before, total_after: after } = nodes;
	// Shares, so that a selection with twice the samples does not look twice as heavy.
	const b = width === 'after' || !wholeBefore ? 0 : 1 / wholeBefore;
	const a = width === 'before' || !wholeAfter ? 0 : 1 / wholeAfter;
	const total = width === 'before' ? before : after;
	return {
		names,
		unit,
		samples: null,
		count: parent.length,
		parent,
		name,
		total,
		self: width === 'before' ? nodes.self_before : nodes.self_after,
		inlined: new Uint8Array(parent.length),
		whole: width === 'before' ? wholeBefore : wholeAfter,
		change: { before, after, wholeBefore, wholeAfter },
		...placeNodes(names, parent, name, mixed(before, after, b, a), by),
	};
}

/** Share after minus share before, of the whole: 0.02 is two percentage points more. */
export function shareChange(graph: FlameGraph, node: number): number {
	const c = graph.change;
	if (!c) return 0;
	const share = (part: number, whole: number) => (whole ? part / whole : 0);
	return share(c.after[node]!, c.wholeAfter) - share(c.before[node]!, c.wholeBefore);
}

/** "+2.13 pts", "±0 pts": percentage points of the whole. */
export function changeText(change: number): string {
	return formatPoints(change) + ' pts';
}

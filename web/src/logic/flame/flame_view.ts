/* The visible part of a flame graph, the node at a point of the screen, and rows as pixels. */
import type { Column } from '../../api/types';
import type { FlameGraph } from './flame_layout';

/** The part of the width that is shown: 0 … 1 is all of it. */
export interface FlameView {
	left: number;
	right: number;
}

export const WHOLE_VIEW: FlameView = { left: 0, right: 1 };
/** Zooming in further shows nothing new, and rounding errors would become visible. */
const NARROWEST = 1e-7;

export function clampView(left: number, right: number): FlameView {
	const width = Math.min(1, Math.max(NARROWEST, right - left));
	const from = Math.min(1 - width, Math.max(0, left));
	return { left: from, right: from + width };
}

/** @at: the point, as a part of the visible width, that stays in place; @factor < 1 zooms in. */
export function zoomView(view: FlameView, at: number, factor: number): FlameView {
	const width = Math.min(1, (view.right - view.left) * factor);
	const middle = view.left + (view.right - view.left) * at;
	return clampView(middle - width * at, middle + width * (1 - at));
}

export function betweenViews(from: FlameView, to: FlameView, part: number): FlameView {
	return {
		left: from.left + (to.left - from.left) * part,
		right: from.right + (to.right - from.right) * part,
	};
}

/** Index in @row of the first node whose right edge is beyond @x. */
function firstBeyond(row: Column, x1: Column, x: number): number {
	let low = 0;
	let high = row.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (x1[row[middle]!]! > x) high = middle;
		else low = middle + 1;
	}
	return low;
}

/** The node at @x in the row of @depth, or -1. */
export function nodeAt(graph: FlameGraph, depth: number, x: number): number {
	const row = graph.rows[depth];
	if (!row) return -1;
	const node = row[firstBeyond(row, graph.x1, x)];
	return node !== undefined && graph.x0[node]! <= x ? node : -1;
}

/** Places where a name may be written: three numbers each, node, left and right pixel. */
export type Labels = number[];

interface RowLook {
	/** Colour of each node. */
	fills: Uint32Array;
	/** 1: striped, so that the meaning does not depend on colour alone. */
	striped: Uint8Array | null;
	gap: number;
	stripe: number;
	/** Boxes with fewer pixels get no name. */
	labelFrom: number;
}

const STRIPES_EVERY = 7;

/** Paints one line of pixels of the row at @depth. A box narrower than a pixel is painted only if
 * it covers the middle of a pixel, so each pixel is painted once, however many nodes there are. */
export function paintRow(
	graph: FlameGraph,
	depth: number,
	view: FlameView,
	look: RowLook,
	line: Uint32Array,
	labels: Labels,
): void {
	const { x0, x1 } = graph;
	const row = graph.rows[depth]!;
	const scale = line.length / (view.right - view.left);
	const origin = view.left;
	line.fill(look.gap);
	for (let i = firstBeyond(row, x1, view.left); i < row.length; i++) {
		const node = row[i]!;
		if (x0[node]! >= view.right) break;
		const from = Math.max(0, Math.round((x0[node]! - origin) * scale));
		const to = Math.min(line.length, Math.round((x1[node]! - origin) * scale));
		if (to <= from) continue;
		const wide = to - from;
		line.fill(look.fills[node]!, from, wide > 2 ? to - 1 : to);
		if (look.striped?.[node]) stripe(line, from, wide > 2 ? to - 1 : to, look.stripe);
		if (wide >= look.labelFrom) labels.push(node, from, to);
	}
}

function stripe(line: Uint32Array, from: number, to: number, colour: number): void {
	for (let x = from - (from % STRIPES_EVERY) + STRIPES_EVERY; x < to; x += STRIPES_EVERY)
		line[x] = colour;
}

/** Cuts @text to @room with an ellipsis; "" if fewer than two characters would remain. */
export function fitText(
	text: string,
	room: number,
	widthOf: (character: string) => number,
): string {
	const dots = widthOf('…');
	let width = 0;
	let cutAt = 0;
	for (let i = 0; i < text.length; i++) {
		width += widthOf(text[i]!);
		if (width + dots <= room) cutAt = i + 1;
		if (width > room) return cutAt > 1 ? text.slice(0, cutAt) + '…' : '';
	}
	return text;
}

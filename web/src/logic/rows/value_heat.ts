/* The heat map of a column: time to the right, value upwards. */
import type { TableHeat } from '../../api/types';
import type { Window } from '../address';
import { scaleTop } from '../tables/heatmap';

export interface HeatGrid {
	columns: number;
	rows: number;
	/** Column by column, each by ascending value. */
	cells: Float64Array;
	/** The count at which the colour is strongest. */
	top: number;
}

export function heatGrid(heat: TableHeat): HeatGrid {
	const cells = Float64Array.from(heat.cells);
	return { columns: heat.pixels, rows: heat.rows, cells, top: scaleTop(cells) };
}

/** The value axis of the heat map, from bottom to top. */
export interface Values {
	min: number;
	max: number;
	/** Logarithmic axis, which begins at 1: smaller values are in the lowest row. */
	log: boolean;
}

function leastOf(v: Values): number {
	return v.log ? Math.max(v.min, 1) : v.min;
}

/** The value at a height (0…1 from the bottom). */
export function valueAt(part: number, v: Values): number {
	const least = leastOf(v);
	if (v.max <= least) return v.max;
	return v.log ? least * (v.max / least) ** part : least + (v.max - least) * part;
}

/** The inverse of valueAt(). */
export function partOf(value: number, v: Values): number {
	const least = leastOf(v);
	if (v.max <= least || value <= least) return 0;
	return v.log
		? Math.log(value / least) / Math.log(v.max / least)
		: (value - least) / (v.max - least);
}

/** The time range from column @a to column @b inclusive, in either order. */
export function windowOf(a: number, b: number, heat: TableHeat): Window {
	const width = (heat.to_ns - heat.from_ns) / heat.pixels;
	return {
		from: Math.round(heat.from_ns + Math.min(a, b) * width),
		to: Math.round(heat.from_ns + (Math.max(a, b) + 1) * width),
	};
}

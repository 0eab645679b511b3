/* The heat map of a column: time to the right, value upwards. */
import type { TableHeat } from '../../api/types';
import type { Window } from '../address';
import { scaleTop } from '../tables/heatmap';

export interface HeatGrid {
	columns: number;
	rows: number;
	/** Column by column, each with its rows from the least value on. */
	cells: Float64Array;
	/** The count at which the colour is strongest. */
	top: number;
}

export function heatGrid(heat: TableHeat): HeatGrid {
	const cells = Float64Array.from(heat.cells);
	return { columns: heat.pixels, rows: heat.rows, cells, top: scaleTop(cells) };
}

/** The values of the heat map, from the bottom to the top. */
export interface Values {
	min: number;
	max: number;
	/** Equal heights are equal ratios. They begin at 1: what is smaller is in the lowest row. */
	log: boolean;
}

function leastOf(v: Values): number {
	return v.log ? Math.max(v.min, 1) : v.min;
}

/** The value at a part of the height (0…1 from the bottom). */
export function valueAt(part: number, v: Values): number {
	const least = leastOf(v);
	if (v.max <= least) return v.max;
	return v.log ? least * (v.max / least) ** part : least + (v.max - least) * part;
}

/** The opposite of valueAt(). */
export function partOf(value: number, v: Values): number {
	const least = leastOf(v);
	if (v.max <= least || value <= least) return 0;
	return v.log
		? Math.log(value / least) / Math.log(v.max / least)
		: (value - least) / (v.max - least);
}

/** The time from column @a to column @b, in either order, both included. */
export function windowOf(a: number, b: number, heat: TableHeat): Window {
	const width = (heat.to_ns - heat.from_ns) / heat.pixels;
	return {
		from: Math.round(heat.from_ns + Math.min(a, b) * width),
		to: Math.round(heat.from_ns + (Math.max(a, b) + 1) * width),
	};
}

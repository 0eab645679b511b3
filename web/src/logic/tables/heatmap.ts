/* The sub-second heat map: a column is a second (in long runs several), a row is a part of the
 * second, from the bottom up. Time runs column by column. Pure. */
import type { Heatmap } from '../../api/types';
import type { Window } from '../address';

const SECOND = 1e9;

export interface Grid {
	columns: number;
	rows: number;
	/** More than one in long runs: each cell is then the mean of this many seconds. */
	secondsAColumn: number;
	firstS: number;
	/** Column by column, each with its rows from the beginning of the second. */
	cells: Float64Array;
	/** The value at which the colour is strongest. */
	top: number;
}

export interface Cell {
	column: number;
	row: number;
}

/** One cell in a hundred may exceed the scale: single peaks would make all others pale. */
export function scaleTop(cells: Float64Array): number {
	const used = cells.filter((v) => v > 0).sort();
	if (!used.length) return 1;
	return used[Math.max(0, Math.ceil(used.length * 0.99) - 1)]!;
}

export function makeGrid(heat: Heatmap, columnsMax: number): Grid {
	const together = Math.max(1, Math.ceil(heat.seconds / Math.max(columnsMax, 1)));
	const columns = Math.ceil(heat.seconds / together);
	const cells = new Float64Array(columns * heat.rows);
	for (let s = 0; s < heat.seconds; s++) {
		const column = Math.floor(s / together);
		const members = Math.min(together, heat.seconds - column * together);
		for (let row = 0; row < heat.rows; row++)
			cells[column * heat.rows + row]! += heat.cells[s * heat.rows + row]! / members;
	}
	return {
		columns,
		rows: heat.rows,
		secondsAColumn: together,
		firstS: heat.first_s,
		cells,
		top: scaleTop(cells),
	};
}

/** The time range of all columns. */
export function gridSpan(grid: Grid): Window {
	const from = grid.firstS * SECOND;
	return { from, to: from + grid.columns * grid.secondsAColumn * SECOND };
}

function inside(value: number, count: number): number {
	return Math.min(Math.max(value, 0), count - 1);
}

/** The cell at a time and a height; @fromTop is a part of the height (0…1). */
export function cellAt(ns: number, fromTop: number, grid: Grid): Cell {
	const column = Math.floor((ns / SECOND - grid.firstS) / grid.secondsAColumn);
	const row = Math.floor((1 - fromTop) * grid.rows);
	return { column: inside(column, grid.columns), row: inside(row, grid.rows) };
}

/** The cell that contains a time; null if it is outside the grid. */
export function cellOf(ns: number, grid: Grid): Cell | null {
	const { from, to } = gridSpan(grid);
	if (ns < from || ns >= to) return null;
	const column = Math.floor((ns - from) / SECOND / grid.secondsAColumn);
	return { column, row: inside(Math.floor(((ns % SECOND) / SECOND) * grid.rows), grid.rows) };
}

/** The time of a cell. A cell of several seconds begins in the first and ends in the last. */
export function cellWindow(cell: Cell, grid: Grid): Window {
	const first = grid.firstS + cell.column * grid.secondsAColumn;
	const last = first + grid.secondsAColumn - 1;
	return {
		from: Math.round((first + cell.row / grid.rows) * SECOND),
		to: Math.round((last + (cell.row + 1) / grid.rows) * SECOND),
	};
}

/** The time range from one cell to the other, in either order. */
export function windowBetween(a: Cell, b: Cell, grid: Grid): Window {
	const [wa, wb] = [cellWindow(a, grid), cellWindow(b, grid)];
	return { from: Math.min(wa.from, wb.from), to: Math.max(wa.to, wb.to) };
}

/** One column's part of a window, rows as fractions of the height from the bottom. */
interface Stripe {
	column: number;
	from: number;
	to: number;
}

export function stripesOf(w: Window, grid: Grid): Stripe[] {
	const stripes: Stripe[] = [];
	const length = grid.secondsAColumn * SECOND;
	const begin = gridSpan(grid).from;
	for (let column = 0; column < grid.columns; column++) {
		const start = begin + column * length;
		if (w.to <= start || w.from >= start + length) continue;
		// Columns of several seconds are marked as a whole.
		const part = (ns: number) => Math.min(Math.max((ns - start) / SECOND, 0), 1);
		const whole = grid.secondsAColumn > 1;
		stripes.push({ column, from: whole ? 0 : part(w.from), to: whole ? 1 : part(w.to) });
	}
	return stripes;
}

/** One step of the keyboard: up and down continue in the neighbouring second, as time does. */
export function stepCell(cell: Cell, columns: number, rows: number, grid: Grid): Cell {
	const place = (cell.column + columns) * grid.rows + cell.row + rows;
	const last = grid.columns * grid.rows - 1;
	if (place < 0 || place > last) return cell;
	return { column: Math.floor(place / grid.rows), row: place % grid.rows };
}

/** #rrggbb → its parts. */
function parts(colour: string): number[] {
	return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

/** 256 colours from weak to strong through @stops, as r, g, b after each other. */
export function colourScale(stops: string[]): Uint8ClampedArray {
	const out = new Uint8ClampedArray(256 * 3);
	const known = stops.map(parts);
	for (let i = 0; i < 256; i++) {
		const at = (i / 255) * (known.length - 1);
		const low = Math.min(Math.floor(at), known.length - 2);
		for (let c = 0; c < 3; c++)
			out[i * 3 + c] = known[low]![c]! + (known[low + 1]![c]! - known[low]![c]!) * (at - low);
	}
	return out;
}

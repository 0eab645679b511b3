import { describe, expect, it } from 'vitest';
import {
	cellAt,
	cellOf,
	cellWindow,
	colourScale,
	makeGrid,
	stepCell,
	stripesOf,
	windowBetween,
} from '../src/logic/tables/heatmap';

const heat = {
	seconds: 4,
	rows: 10,
	first_s: 2,
	cells: Array.from({ length: 40 }, (_, i) => i),
	max: 39,
};
const grid = makeGrid(heat, 100);

describe('the heat map', () => {
	it('puts seconds together when there is no room', () => {
		const small = makeGrid({ ...heat, seconds: 3, cells: heat.cells.slice(0, 30) }, 2);
		expect([small.columns, small.secondsAColumn]).toEqual([2, 2]);
		expect(small.cells[0]).toBe(5);
		expect(small.cells[10]).toBe(20);
	});
	it('finds cells by place and by time', () => {
		expect(cellAt(3.2e9, 0.05, grid)).toEqual({ column: 1, row: 9 });
		expect(cellAt(99e9, 2, grid)).toEqual({ column: 3, row: 0 });
		expect(cellOf(2.95e9, grid)).toEqual({ column: 0, row: 9 });
		expect(cellOf(1e9, grid)).toBeNull();
	});
	it('knows when a cell is', () => {
		expect(cellWindow({ column: 1, row: 3 }, grid)).toEqual({ from: 3.3e9, to: 3.4e9 });
		const between = windowBetween({ column: 2, row: 0 }, { column: 0, row: 5 }, grid);
		expect(between).toEqual({ from: 2.5e9, to: 4.1e9 });
	});
	it('cuts windows into stripes', () => {
		expect(stripesOf({ from: 2.5e9, to: 4.25e9 }, grid)).toEqual([
			{ column: 0, from: 0.5, to: 1 },
			{ column: 1, from: 0, to: 1 },
			{ column: 2, from: 0, to: 0.25 },
		]);
	});
	it('walks through time by keys', () => {
		expect(stepCell({ column: 0, row: 9 }, 0, 1, grid)).toEqual({ column: 1, row: 0 });
		expect(stepCell({ column: 0, row: 0 }, 0, -1, grid)).toEqual({ column: 0, row: 0 });
		expect(stepCell({ column: 3, row: 2 }, 1, 0, grid)).toEqual({ column: 3, row: 2 });
	});
	it('has a scale that one peak does not rule', () => {
		const cells = Array.from({ length: 200 }, (_, i) => (i === 0 ? 1000 : 10));
		expect(makeGrid({ seconds: 20, rows: 10, first_s: 0, cells, max: 1000 }, 99).top).toBe(10);
	});
	it('mixes colours', () => {
		const scale = colourScale(['#000000', '#ff0000', '#ffffff']);
		expect([...scale.slice(0, 3)]).toEqual([0, 0, 0]);
		expect([...scale.slice(-3)]).toEqual([255, 255, 255]);
		expect(scale[127 * 3]).toBeGreaterThan(240);
	});
});

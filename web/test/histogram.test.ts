import { describe, expect, it } from 'vitest';
import type { ValueHistogram } from '../src/api/types';
import {
	choiceKey,
	choicesOf,
	chosenOf,
	labelRows,
	layOutBars,
	layOutPercentiles,
	ticksBetween,
	yScale,
} from '../src/logic/tables/histogram';

/** Edges and counts of bins that touch. */
function histogram(edges: number[], counts: number[]): ValueHistogram {
	return {
		bins: counts.map((count, i) => ({ from: edges[i]!, to: edges[i + 1]!, count })),
		min: edges[0]!,
		max: edges[edges.length - 1]!,
		mean: 1,
		p50: edges[1]!,
		p90: edges[1]!,
		p99: edges[1]!,
		p999: edges[edges.length - 1]!,
		count: counts.reduce((a, b) => a + b, 0),
	};
}
const linear = { logx: false, logy: false };

describe('layOutBars', () => {
	it('fills the width', () => {
		const bars = layOutBars(histogram([0, 10, 20], [5, 10]), linear);
		expect(bars[0]).toMatchObject({ x0: 0, x1: 0.5, y: 0.5 });
		expect(bars[1]).toMatchObject({ x0: 0.5, x1: 1, y: 1 });
	});
	it('gives equal ratios equal widths on a logarithmic axis', () => {
		const bars = layOutBars(histogram([1, 10, 100], [1, 1]), { logx: true, logy: false });
		expect(bars[0]!.x1).toBeCloseTo(0.5);
	});
	it('keeps zero at the left of a logarithmic axis', () => {
		const h = histogram([0, 0], [3]);
		h.bins.push({ from: 1, to: 10, count: 2 }, { from: 10, to: 100, count: 1 });
		h.max = 100;
		const bars = layOutBars(h, { logx: true, logy: false });
		expect(bars[0]!.x1).toBeGreaterThan(bars[0]!.x0);
		expect(bars[0]!.x1).toBeLessThanOrEqual(bars[1]!.x0);
		expect(bars[2]!.x1).toBeCloseTo(1);
	});
	it('shows values that are all alike', () => {
		for (const logx of [false, true]) {
			const [bar] = layOutBars(histogram([7, 7], [100]), { logx, logy: false });
			expect(bar!.x1).toBeGreaterThan(bar!.x0);
			expect(bar!.x0).toBeGreaterThan(0);
			expect(bar!.x1).toBeLessThan(1);
		}
	});
	it('has no number that is none', () => {
		const bars = layOutBars(histogram([0, 0], [0]), { logx: true, logy: true });
		for (const b of bars) for (const v of [b.x0, b.x1, b.y]) expect(v).not.toBeNaN();
	});
});

it('a single count is seen among thousands by logarithm', () => {
	expect(yScale(10000, true)(1)).toBeGreaterThan(0.05);
	expect(yScale(10000, false)(1)).toBeLessThan(0.001);
	expect(yScale(10000, true)(0)).toBe(0);
	expect(yScale(10000, true)(10000)).toBe(1);
});

it('percentile labels do not stand on each other', () => {
	const lines = layOutPercentiles(histogram([0, 10, 20], [5, 10]), linear);
	expect(lines.map((l) => l.label)).toEqual(['p50', 'p90', 'p99', 'p99.9']);
	expect(labelRows(lines, 0.1)).toEqual([0, 1, 2, 0]);
	expect(labelRows([{ label: 'a', value: 1, x: 1 }], 0.3)).toEqual([0]);
});

describe('ticksBetween', () => {
	it('are round', () => {
		expect(ticksBetween(0, 10, false, 5)).toEqual([0, 2, 4, 6, 8, 10]);
		expect(ticksBetween(1, 1000, true, 5)).toEqual([1, 10, 100, 1000]);
		expect(ticksBetween(5, 5, false, 5)).toEqual([5]);
	});
	it('are few', () => {
		expect(ticksBetween(1, 1e12, true, 5).length).toBeLessThanOrEqual(5);
		expect(ticksBetween(0.1234, 98.7, false, 5).length).toBeLessThanOrEqual(7);
		expect(ticksBetween(0, 1e9, true, 5).length).toBeLessThanOrEqual(7);
	});
});

describe('choices', () => {
	const choices = choicesOf(
		[
			{ name: 'page-faults', unit: null },
			{ name: 'task-clock', unit: 'msec' },
			{ name: 'page-faults', unit: null },
		],
		[
			{ name: 'cpu-clock', sampled: true },
			{ name: 'cycles', sampled: true, supported: false },
		],
	);
	it('have each counter once, and what was sampled', () => {
		expect(choices.map(choiceKey)).toEqual(['page-faults', 'task-clock', 'weight:cpu-clock']);
	});
	it('come back from the address', () => {
		expect(chosenOf(choices, 'weight:cpu-clock')).toMatchObject({ kind: 'weight', unit: 'ns' });
		expect(chosenOf(choices, 'gone')).toMatchObject({ name: 'page-faults' });
		expect(chosenOf([], null)).toBeNull();
	});
});

import { describe, expect, it } from 'vitest';
import { layOutTree } from '../src/logic/flame/flame_layout';
import {
	clampView,
	fitText,
	nodeAt,
	paintRow,
	WHOLE_VIEW,
	zoomView,
	type Labels,
} from '../src/logic/flame/flame_view';
import { largeTree, sampleGraph } from './flame_sample';

describe('what is in sight', () => {
	it('never leaves the graph', () => {
		expect(clampView(-0.5, 0.5)).toEqual({ left: 0, right: 1 });
		expect(clampView(0.8, 1.2).right).toBe(1);
		const narrow = clampView(0.5, 0.5);
		expect(narrow.right).toBeGreaterThan(narrow.left);
	});

	it('keeps what is under the pointer there while it zooms', () => {
		const view = zoomView({ left: 0.2, right: 0.6 }, 0.25, 0.5);
		expect(view.left + (view.right - view.left) * 0.25).toBeCloseTo(0.3);
		expect(view.right - view.left).toBeCloseTo(0.2);
		expect(zoomView(WHOLE_VIEW, 0.3, 4)).toEqual(WHOLE_VIEW);
	});

	it('finds the node at a place, and none in a gap', () => {
		const g = sampleGraph();
		expect(nodeAt(g, 0, 0.99)).toBe(0);
		expect(nodeAt(g, 1, 0.3)).toBe(1);
		expect(nodeAt(g, 1, 0.6)).toBe(5);
		expect(nodeAt(g, 2, 0.41)).toBe(3);
		expect(nodeAt(g, 2, 0.65)).toBe(6);
		expect(nodeAt(g, 2, 0.75)).toBe(-1);
		expect(nodeAt(g, 9, 0.5)).toBe(-1);
	});

	it('finds each of 100,000 nodes at its own middle', () => {
		const g = layOutTree({ ...largeTree(100000), unit: null });
		for (let n = 0; n < g.count; n += 97)
			expect(nodeAt(g, g.depth[n]!, (g.x0[n]! + g.x1[n]!) / 2)).toBe(n);
	});
});

describe('rows of pixels', () => {
	const paint = (depth: number, view = WHOLE_VIEW, width = 100) => {
		const g = sampleGraph();
		const line = new Uint32Array(width);
		const labels: Labels = [];
		const look = {
			fills: Uint32Array.from({ length: g.count }, (_, n) => n + 1),
			striped: null,
			gap: 0,
			stripe: 99,
			labelFrom: 20,
		};
		paintRow(g, depth, view, look, line, labels);
		return { line: Array.from(line), labels };
	};

	it('paints boxes with a gap behind them', () => {
		const { line, labels } = paint(1);
		expect(line.slice(0, 59).every((c) => c === 2)).toBe(true);
		expect(line[59]).toBe(0);
		expect(line[60]).toBe(6);
		expect(line[89]).toBe(0);
		expect(line[98]).toBe(8);
		// Names only where there is room.
		expect(labels).toEqual([1, 0, 60, 5, 60, 90]);
	});

	it('cuts boxes at the edges of what is in sight', () => {
		const { line, labels } = paint(1, { left: 0.5, right: 0.75 });
		expect(line[0]).toBe(2);
		expect(line[38]).toBe(2);
		expect(line[40]).toBe(6);
		expect(line[99]).toBe(0);
		expect(labels).toEqual([1, 0, 40, 5, 40, 100]);
	});

	it('leaves a row without boxes empty where none are', () => {
		expect(
			paint(3)
				.line.slice(41)
				.every((c) => c === 0),
		).toBe(true);
	});

	it('puts stripes only into boxes that bear them', () => {
		const g = sampleGraph();
		const line = new Uint32Array(100);
		const look = {
			fills: new Uint32Array(g.count).fill(1),
			striped: Uint8Array.from({ length: g.count }, (_, n) => (n === 5 ? 1 : 0)),
			gap: 0,
			stripe: 99,
			labelFrom: 1000,
		};
		paintRow(g, 1, WHOLE_VIEW, look, line, []);
		const at = Array.from(line.keys()).filter((x) => line[x] === 99);
		expect(at.length).toBeGreaterThan(2);
		expect(at.every((x) => x >= 60 && x < 90)).toBe(true);
	});
});

describe('names on boxes', () => {
	const ten = () => 10;
	it('are whole where they fit, else cut with an ellipsis, else left out', () => {
		expect(fitText('main', 40, ten)).toBe('main');
		expect(fitText('main', 39, ten)).toBe('ma…');
		expect(fitText('main', 29, ten)).toBe('');
		expect(fitText('', 100, ten)).toBe('');
	});
});

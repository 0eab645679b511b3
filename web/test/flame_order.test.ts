import { describe, expect, it } from 'vitest';
import { layOutTime, timeOf } from '../src/logic/flame/flame_order';
import { findPath, pathOf } from '../src/logic/flame/flame_path';
import { searchGraph } from '../src/logic/flame/flame_search';
import { NAMES } from './flame_sample';

/** main from 0 to 100: a, b, a again; later main once more. */
const BOXES = {
	name: [1, 2, 3, 2, 1, 2],
	depth: [0, 1, 1, 1, 0, 1],
	from_ns: [1000, 1000, 1030, 1060, 1150, 1160],
	to_ns: [1100, 1030, 1060, 1100, 1200, 1170],
};
const graph = layOutTime(NAMES, BOXES, { from: 1000, to: 1200 });

describe('a graph in time', () => {
	it('has boxes where they happened, and nothing in between', () => {
		expect(graph.rows.map((row) => row.length)).toEqual([1, 2, 4]);
		expect([graph.x0[2], graph.x1[2]]).toEqual([0.75, 1]);
		expect(timeOf(graph, 1)).toEqual({ from: 1000, to: 1100 });
	});
	it('knows who called', () => {
		expect(Array.from(graph.parent)).toEqual([0, 0, 0, 1, 1, 1, 2]);
		expect(graph.self[1]).toBe(0);
		expect(graph.self[2]).toBe(40);
	});
	it('tells calls of the same function apart', () => {
		for (let n = 0; n < graph.count; n++)
			expect(findPath(graph, pathOf(graph, n))).toEqual({ node: n, missing: [] });
	});
	it('is searched by time', () => {
		expect(searchGraph(graph, '/^b$/')!.share).toBeCloseTo((30 + 40 + 10) / 200);
	});
});

import { describe, expect, it } from 'vitest';
import { layOutTree } from '../src/logic/flame/flame_layout';
import { largeTree, sampleGraph } from './flame_sample';

describe('places of nodes', () => {
	it('puts children above their parent, in order of name', () => {
		const g = sampleGraph();
		expect(Array.from(g.depth)).toEqual([0, 1, 2, 2, 3, 1, 2, 1]);
		expect(g.rows.map((row) => Array.from(row))).toEqual([[0], [1, 5, 7], [2, 3, 6], [4]]);
		expect([g.x0[0], g.x1[0]]).toEqual([0, 1]);
		expect(g.x0[1]).toBeCloseTo(0);
		expect(g.x1[1]).toBeCloseTo(0.6);
		expect(g.x0[5]).toBeCloseTo(0.6);
		expect(g.x1[5]).toBeCloseTo(0.9);
		expect(g.x0[3]).toBeCloseTo(0.4);
	});

	it('puts the heaviest first when asked, those of the same weight by name', () => {
		const nodes = {
			parent: [0, 0, 0, 0],
			name: [0, 2, 1, 3],
			self: [0, 1, 1, 5],
			total: [7, 1, 1, 5],
			inlined: [0, 0, 0, 0],
		};
		const names = sampleGraph().names;
		const g = layOutTree({ names, nodes, unit: null }, 'weight');
		expect(Array.from(g.rows[1]!)).toEqual([3, 2, 1]);
	});

	it('does not move by weight what is ordered by name', () => {
		const { names, nodes } = largeTree(100);
		const before = layOutTree({ names, nodes, unit: null });
		const total = Float64Array.from(nodes.total);
		for (let n = 50; ; n = nodes.parent[n]!) {
			total[n]! += 1000;
			if (!n) break;
		}
		const after = layOutTree({ names, nodes: { ...nodes, total }, unit: null });
		expect(after.rows).toEqual(before.rows);
	});

	it('knows an empty tree', () => {
		const nodes = { parent: [], name: [], self: [], total: [], inlined: [] };
		const g = layOutTree({ names: [], nodes, unit: null });
		expect([g.count, g.whole, g.rows.length]).toEqual([0, 0, 0]);
	});

	it('gives nodes without weight no width, and divides by nothing', () => {
		const nodes = { parent: [0, 0], name: [0, 1], self: [0, 0], total: [0, 0], inlined: [0, 0] };
		const g = layOutTree({ names: sampleGraph().names, nodes, unit: null });
		expect([g.x0[1], g.x1[1]]).toEqual([0, 0]);
	});

	it('lays out 100,000 nodes so that children stand within their parents', () => {
		const { names, nodes } = largeTree(100000);
		const g = layOutTree({ names, nodes, unit: null });
		let wrong = 0;
		for (let n = 1; n < g.count; n++) {
			const p = g.parent[n]!;
			if (g.depth[n] !== g.depth[p]! + 1) wrong++;
			if (g.x0[n]! < g.x0[p]! - 1e-9 || g.x1[n]! > g.x1[p]! + 1e-9) wrong++;
		}
		expect(wrong).toBe(0);
		for (const row of g.rows)
			for (let i = 1; i < row.length; i++)
				if (g.x0[row[i]!]! < g.x1[row[i - 1]!]! - 1e-9) throw new Error('boxes overlap');
	});
});

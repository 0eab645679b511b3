import { describe, expect, it } from 'vitest';
import { COLOURS } from '../src/logic/address';
import { INK, legendOf, paintOf, textHash, type Rgb } from '../src/logic/flame/flame_colours';
import { changeText, layOutDiff, shareChange } from '../src/logic/flame/flame_diff';
import { layOutTree } from '../src/logic/flame/flame_layout';
import { searchGraph } from '../src/logic/flame/flame_search';
import { largeTree, NAMES, sampleGraph } from './flame_sample';

function luminance([r, g, b]: Rgb): number {
	const part = (v: number) => {
		const s = v / 255;
		return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
	};
	return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
}

function contrast(fill: number, ink: Rgb): number {
	const [x, y] = [luminance([fill & 255, (fill >> 8) & 255, (fill >> 16) & 255]), luminance(ink)];
	return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

const DIFF = {
	names: NAMES,
	total_before: 100,
	total_after: 200,
	nodes: {
		parent: [0, 0, 0, 0],
		name: [0, 1, 2, 3],
		self_before: [0, 50, 50, 0],
		self_after: [0, 20, 100, 80],
		total_before: [100, 50, 50, 0],
		total_after: [200, 20, 100, 80],
	},
};

describe('colours of boxes', () => {
	it('let text be read in both themes, whatever they mean', () => {
		const { names, nodes } = largeTree(3000);
		const kinds = ['user', 'kernel', 'jit', 'vdso', 'unknown'] as const;
		names.forEach((name, i) => (name[2] = kinds[i % kinds.length]!));
		for (let n = 0; n < 3000; n += 2) (nodes.inlined as Uint8Array)[n] = 1;
		const graph = layOutTree({ names, nodes, unit: null });
		const found = searchGraph(graph, 'f1');
		for (const dark of [false, true]) {
			const ink = INK[dark ? 'dark' : 'light'];
			const paints = COLOURS.map((colour) => paintOf(graph, colour, dark, null));
			paints.push(paintOf(graph, 'kind', dark, found));
			paints.push(paintOf(layOutDiff(DIFF, null), 'change', dark, null));
			for (const { fills } of paints)
				for (const fill of fills) expect(contrast(fill, ink)).toBeGreaterThanOrEqual(4.5);
		}
	});

	it('tell kinds apart, and inlined from called', () => {
		const { fills } = paintOf(sampleGraph(), 'kind', false, null);
		expect(new Set([fills[1], fills[4], fills[7]]).size).toBe(3);
		// Node 2 is b inlined, node 5 is b called.
		expect(fills[2]).not.toBe(fills[5]);
		const labels = legendOf(sampleGraph(), 'kind', false).map((entry) => entry.label);
		expect(labels).toEqual(['Program', 'Inlined', 'Kernel', 'Just in time']);
	});

	it('are the same for a module everywhere', () => {
		const { fills } = paintOf(sampleGraph(), 'module', false, null);
		expect(fills[1]).toBe(fills[6]);
		const labels = legendOf(sampleGraph(), 'module', false).map((entry) => entry.label);
		expect(labels).toEqual(['prog', '[kernel.kallsyms]', 'libc.so.6']);
		expect(textHash('a')).toBe(textHash('a'));
		expect(textHash('a')).not.toBe(textHash('b'));
	});

	it('mark matches', () => {
		const graph = sampleGraph();
		const plain = paintOf(graph, 'kind', false, null).fills;
		const { fills } = paintOf(graph, 'kind', false, searchGraph(graph, '/^d$/'));
		expect(fills[4]).not.toBe(plain[4]);
		expect(fills[1]).toBe(fills[5]);
	});
});

describe('differentials', () => {
	const red = (fill: number) => (fill & 255) - ((fill >> 16) & 255);
	it('compare shares, not weights', () => {
		const graph = layOutDiff(DIFF, null);
		expect(shareChange(graph, 1)).toBeCloseTo(-0.4);
		expect(shareChange(graph, 2)).toBeCloseTo(0);
		expect(shareChange(graph, 3)).toBeCloseTo(0.4);
	});
	it('are red for more, blue with stripes for less', () => {
		const { fills, striped } = paintOf(layOutDiff(DIFF, null), 'change', false, null);
		expect(red(fills[3]!)).toBeGreaterThan(40);
		expect(red(fills[1]!)).toBeLessThan(-40);
		expect(Math.abs(red(fills[2]!))).toBeLessThan(5);
		expect(Array.from(striped!)).toEqual([0, 1, 0, 0]);
	});
	it('are as broad as either side, or both in the middle', () => {
		const width = (by: 'before' | 'after' | 'both', node: number) => {
			const graph = layOutDiff(DIFF, null, by);
			return graph.x1[node]! - graph.x0[node]!;
		};
		expect(width('before', 3)).toBe(0);
		expect(width('after', 3)).toBeCloseTo(0.4);
		expect(width('both', 3)).toBeCloseTo(0.2);
		expect(width('both', 1)).toBeCloseTo(0.3);
	});
	it('stand in text with their sign', () => {
		expect(changeText(0.123)).toBe('+12.3 pts');
		expect(changeText(-0.004)).toBe('−0.40 pts');
		expect(changeText(0.000001)).toBe('±0 pts');
		expect(changeText(0)).toBe('±0 pts');
	});
});

import { describe, expect, it } from 'vitest';
import { flameCommand } from '../src/logic/flame/flame_keys';
import { layOutTree } from '../src/logic/flame/flame_layout';
import {
	besideNode,
	broadestChild,
	findPath,
	foldedStack,
	pathOf,
	placeAmongSiblings,
} from '../src/logic/flame/flame_path';
import { framesPattern, framesWords } from '../src/logic/flame/flame_frames';
import { largeTree, sampleGraph } from './flame_sample';

describe('paths', () => {
	it('lead back to their node', () => {
		const g = sampleGraph();
		expect(pathOf(g, 4)).toBe('a\nb\nd');
		expect(findPath(g, 'a\nb\nd')).toEqual({ node: 4, missing: [] });
		expect(pathOf(g, 0)).toBeNull();
		expect(findPath(g, null)).toEqual({ node: 0, missing: [] });
	});

	it('end where the graph of another window does', () => {
		expect(findPath(sampleGraph(), 'a\nx\ny')).toEqual({ node: 1, missing: ['x', 'y'] });
	});

	it('work for every node of a large tree whose siblings have different names', () => {
		const g = layOutTree({ ...largeTree(20000), unit: null });
		for (let n = 0; n < g.count; n += 31) {
			const { node, missing } = findPath(g, pathOf(g, n));
			expect(missing).toEqual([]);
			expect(pathOf(g, node)).toBe(pathOf(g, n));
		}
	});

	it('know neighbours', () => {
		const g = sampleGraph();
		expect(broadestChild(g, 0)).toBe(1);
		expect(broadestChild(g, 4)).toBe(-1);
		expect(besideNode(g, 3, 1)).toBe(6);
		expect(besideNode(g, 6, 1)).toBe(6);
		expect(besideNode(g, 5, -1)).toBe(1);
		expect(placeAmongSiblings(g, 5)).toEqual({ at: 2, of: 3 });
	});

	it('are written as other tools fold stacks', () => {
		expect(foldedStack(sampleGraph(), 4)).toBe('a;b;d');
	});
});

describe('keys', () => {
	const press = (key: string, more = {}) => ({
		key,
		shiftKey: false,
		ctrlKey: false,
		metaKey: false,
		altKey: false,
		...more,
	});
	const g = sampleGraph();
	it('move by the direction in which the graph is drawn', () => {
		expect(flameCommand(g, 0, 0, 'bottom', press('ArrowUp'))).toEqual({ kind: 'cursor', node: 1 });
		expect(flameCommand(g, 0, 0, 'top', press('ArrowDown'))).toEqual({ kind: 'cursor', node: 1 });
		expect(flameCommand(g, 4, 0, 'top', press('ArrowUp'))).toEqual({ kind: 'cursor', node: 2 });
		expect(flameCommand(g, 4, 0, 'top', press('ArrowDown'))).toEqual({ kind: 'cursor', node: 4 });
	});
	it('show first where one is', () => {
		expect(flameCommand(g, -1, 2, 'top', press('ArrowDown'))).toEqual({ kind: 'cursor', node: 2 });
	});
	it('zoom in and out', () => {
		expect(flameCommand(g, 4, 0, 'top', press('Enter'))).toEqual({ kind: 'zoom', node: 4 });
		expect(flameCommand(g, 4, 2, 'top', press('Backspace'))).toEqual({ kind: 'zoom', node: 1 });
		expect(flameCommand(g, 4, 2, 'top', press('Escape'))).toEqual({ kind: 'zoom', node: 0 });
	});
	it('leave others to the page', () => {
		expect(flameCommand(g, 4, 2, 'top', press('x'))).toBeNull();
		expect(flameCommand(g, 4, 2, 'top', press('c', { ctrlKey: true }))).toBeNull();
	});
});

describe('a function as a filter', () => {
	it('matches exactly its name', () => {
		const name = 'std::map<int*, a[3]>::operator() (x|y)^{z}$+?\\';
		expect(new RegExp(framesPattern(name)).test(name)).toBe(true);
		expect(new RegExp(framesPattern('a.b')).test('axb')).toBe(false);
		expect(framesWords(framesPattern(name))).toBe(name);
		expect(framesWords('a|b')).toBe('/a|b/');
	});
	it('is cut where the server would refuse it, not within an escape', () => {
		const pattern = framesPattern('('.repeat(300));
		expect(pattern.length).toBeLessThanOrEqual(256);
		expect(new RegExp(pattern).test('('.repeat(300))).toBe(true);
	});
});

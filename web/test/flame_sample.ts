/* A small call tree for tests: root; a 60 (b 40 (d 40), c 20), b 30 (a 10), e 10. */
import type { FlameNodes, FunctionName } from '../src/api/types';
import { layOutTree, type ChildOrder } from '../src/logic/flame/flame_layout';

export const NAMES: FunctionName[] = [
	['all', '', 'unknown'],
	['a', 'prog', 'user'],
	['b', 'prog', 'user'],
	['c', 'libc.so.6', 'user'],
	['d', '[kernel.kallsyms]', 'kernel'],
	['e', 'prog', 'jit'],
];

export const NODES: FlameNodes = {
	//      root a   b   c   d  b'  a'  e
	parent: [0, 0, 1, 1, 2, 0, 5, 0],
	name: [0, 1, 2, 3, 4, 2, 1, 5],
	self: [0, 0, 0, 20, 40, 20, 10, 10],
	total: [100, 60, 40, 20, 40, 30, 10, 10],
	inlined: [0, 0, 1, 0, 0, 0, 0, 0],
};

export function sampleGraph(by: ChildOrder = 'name') {
	return layOutTree({ names: NAMES, nodes: NODES, unit: null }, by);
}

/** A tree of @count nodes in which every node has about three children, the same each time. */
export function largeTree(count: number): { names: FunctionName[]; nodes: FlameNodes } {
	const names = Array.from({ length: 500 }, (_, i): FunctionName => [`f${i}`, `m${i % 7}`, 'user']);
	const parent = new Uint32Array(count);
	const name = new Uint32Array(count);
	const total = new Float64Array(count);
	const self = new Float64Array(count).fill(1);
	for (let n = 1; n < count; n++) {
		parent[n] = Math.floor((n - 1) / 3);
		name[n] = (n * 7919) % names.length;
	}
	total.fill(1);
	for (let n = count - 1; n > 0; n--) total[parent[n]!]! += total[n]!;
	return { names, nodes: { parent, name, self, total, inlined: new Uint8Array(count) } };
}

import { describe, expect, it } from 'vitest';
import type { Flame, Points } from '../src/api/types';
import {
	byAddress,
	byFunction,
	pointNear,
	pointSearch,
} from '../src/logic/timeline/timeline_points';
import { stackOf } from '../src/logic/timeline/timeline_stack';

const points: Points = {
	names: [
		['read', 'libc.so', 'user'],
		['main', 'prog', 'user'],
		['sys_read', '[kernel]', 'kernel'],
		['exit', 'prog', 'user'],
	],
	function: [1, 1, 1, 0, 0, 2, 3],
	t: [0, 10, 20, 30, 40, 50, 60],
	events: ['cpu-clock'],
	event: [0, 0, 0, 0, 0, 0, 0],
	address: [100, 200, 300, 5, 6, 9e15, 150],
	address_of: 'code',
	thinned_from: 7,
};

describe('single samples', () => {
	it('stand in the row of their function, the rest together', () => {
		const { strips, y } = byFunction(points, 3);
		expect(strips.map((s) => [s.label, s.points])).toEqual([
			['main', 3],
			['read', 2],
			['2 other functions', 2],
		]);
		expect(Math.floor(y[0]! * 3)).toBe(0);
		expect(Math.floor(y[6]! * 3)).toBe(2);
	});
	it('stand at their address in the strip of their file', () => {
		const { strips, y } = byAddress(points, 8);
		expect(strips[0]!.label).toBe('prog');
		expect(strips.at(-1)!.bottom).toBeCloseTo(1, 5);
		// Higher addresses are higher up.
		expect(y[2]!).toBeLessThan(y[0]!);
		for (const [i, strip] of [0, 0, 0, 1, 1, 2, 0].entries()) {
			expect(y[i]!).toBeGreaterThan(strips[strip]!.top);
			expect(y[i]!).toBeLessThan(strips[strip]!.bottom);
		}
	});
	it('tells data by regions of memory', () => {
		const { strips } = byAddress({ ...points, address_of: 'data' }, 8);
		expect(strips.map((s) => s.label).sort()).toEqual(['0x1ff973cafa8000', '0x5']);
	});
	it('are coloured by event when there are several', () => {
		const event = [0, 1, 0, 1, 0, 1, 0];
		const { colour, colours } = byFunction({ ...points, events: ['a', 'b'], event }, 3);
		expect([...colour]).toEqual(event);
		expect(colours).toEqual(['a', 'b']);
	});
	it('are found near the pointer, in any order of times', () => {
		const y = new Float32Array([0.1, 0.9, 0.5]);
		const search = pointSearch([30, 10, 20], y);
		expect(pointNear(search, 11, 0.9, 1, 100, 12)).toBe(1);
		expect(pointNear(search, 11, 0.1, 1, 100, 12)).toBeNull();
		expect(pointNear(search, 19, null, 1, 100, 12)).toBe(2);
	});
});

describe('the stack of a sample', () => {
	it('is the heaviest path', () => {
		const flame = {
			names: [['all'], ['main'], ['read'], ['write']],
			nodes: { parent: [0, 0, 1, 1], name: [0, 1, 2, 3], total: [3, 3, 1, 2] },
		} as unknown as Flame;
		expect(stackOf(flame)).toEqual(['main', 'write']);
		expect(stackOf({ names: [] } as unknown as Flame)).toEqual([]);
	});
});

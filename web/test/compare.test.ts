import { describe, expect, it } from 'vitest';
import type { CounterLine, DiffFunction, Timeline } from '../src/api/types';
import { HOME } from '../src/logic/address';
import { directionOf, formatPoints, formatRelative } from '../src/logic/tables/change';
import { compareCounters, sidesOf, sortChanges, swapped } from '../src/logic/tables/compare';

const window = { from: 0, to: 10 };
const second = { from: 20, to: 30 };

describe('sidesOf', () => {
	it('is nothing until there are two', () => {
		expect(sidesOf({ ...HOME, run: 'r', window })).toBeNull();
		expect(sidesOf({ ...HOME, run: 'r', a: 'r' })).toBeNull();
	});
	it('are two windows before two runs', () => {
		const sides = sidesOf({ ...HOME, run: 'r', window, second, a: 'x', b: 'y' })!;
		expect(sides).toMatchObject({ of: 'windows', before: { window }, after: { window: second } });
	});
	it('cuts only the run that the window was made on', () => {
		const sides = sidesOf({ ...HOME, run: 'y', window, a: 'x', b: 'y' })!;
		expect(sides.before).toEqual({ run: 'x', window: null });
		expect(sides.after).toEqual({ run: 'y', window });
	});
	it('can be exchanged', () => {
		const address = { ...HOME, run: 'r', window, second, a: 'x', b: 'y' };
		expect(swapped(address, 'windows')).toEqual({ window: second, second: window });
		expect(swapped(address, 'runs')).toEqual({ a: 'y', b: 'x' });
	});
});

describe('sortChanges', () => {
	const f = (name: string, before: number, after: number): DiffFunction => ({
		name,
		module: 'm',
		kind: 'user',
		self_before: before,
		self_after: after,
		total_before: after,
		total_after: after,
	});
	it('puts the largest change first, whatever its sign', () => {
		const all = [f('small', 0.1, 0.11), f('less', 0.5, 0.1), f('more', 0, 0.3)];
		const names = sortChanges(all, { key: 'self', down: true }).map((x) => x.name);
		expect(names).toEqual(['less', 'more', 'small']);
	});
});

describe('compareCounters', () => {
	const line = (name: string, ...mean: (number | null)[]) =>
		({ name, unit: null, scale: 1, mean, sum: mean.map((m) => m ?? 0) }) as unknown as CounterLine;
	const timeline = (...counters: CounterLine[]) => ({ counters }) as Timeline;
	it('has means and spread, without what was not counted', () => {
		const [c] = compareCounters(timeline(line('x', 10, null, 20)), timeline(line('x', 30, 30)));
		expect(c!.before).toEqual({ mean: 15, spread: 5, sum: 30 });
		expect(c!.after).toEqual({ mean: 30, spread: 0, sum: 60 });
		expect(c!.clear).toBe(true);
	});
	it('is not sure where values vary more than the means', () => {
		const [c] = compareCounters(timeline(line('x', 0, 20)), timeline(line('x', 5, 25)));
		expect(c!.clear).toBe(false);
	});
	it('adds CPUs up and knows what only one side has', () => {
		const all = compareCounters(
			timeline(line('x', 1, 2), line('x', 10, NaN)),
			timeline(line('y', 5, 5)),
		);
		expect(all.map((c) => c.name)).toEqual(['x', 'y']);
		expect(all[0]).toMatchObject({ before: { mean: 6.5 }, after: null, clear: false });
	});
});

describe('changes in words', () => {
	it('always have a sign', () => {
		expect(formatPoints(0.0213)).toBe('+2.13');
		expect(formatPoints(-0.213)).toBe('−21.3');
		expect(formatPoints(0.00001)).toBe('±0');
		expect(formatRelative(2, 3)).toBe('+50 %');
		expect(formatRelative(100, 96)).toBe('−4.0 %');
		expect(formatRelative(0, 3)).toBe('new');
		expect(formatRelative(5, 5)).toBe('±0 %');
		expect(formatRelative(1, 40)).toBe('× 40.0');
		expect(directionOf(0.2)).toBe('more');
		expect(directionOf(-0.2)).toBe('less');
		expect(directionOf(0.0001)).toBe('same');
	});
});

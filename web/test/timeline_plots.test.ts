import { describe, expect, it } from 'vitest';
import type { Timeline } from '../src/api/types';
import {
	axisTop,
	flagsOf,
	makePlots,
	meanIn,
	pointAt,
	roundTop,
	smoothRate,
	storedPlots,
	type RawLine,
} from '../src/logic/timeline/timeline_plots';

function raw(name: string, mean: number[], more: Partial<RawLine> = {}): RawLine {
	const t = mean.map((_, i) => i * 1e9);
	return { name, unit: null, scale: 1, cpu: null, t, min: mean, max: mean, mean, ...more };
}

describe('plots', () => {
	it('has one for each counter, with a line for each CPU', () => {
		const plots = makePlots(
			[raw('cpu-clock', [1, 2])],
			[raw('a', [1, 2], { cpu: 0 }), raw('b', [3, 4]), raw('a', [5, 6], { cpu: 1 })],
		);
		expect(plots.map((p) => p.key)).toEqual(['samples', 'a', 'b']);
		expect(plots[1]!.lines.map((l) => l.label)).toEqual(['CPU 0', 'CPU 1']);
		expect(plots[0]!.title).toBe('cpu-clock samples');
	});
	it('keeps gaps, and shows units', () => {
		const [plot] = makePlots(
			[],
			[raw('task-clock', [1e9, NaN, 2e9], { unit: 'msec', scale: 1e-6 })],
		);
		expect(plot!.lines[0]!.mean).toEqual([1, null, 2]);
		expect(plot!.unit.suffix).toBe('CPUs');
	});
	it('puts lines of different times onto one axis', () => {
		const late = raw('a', [7], { cpu: 1, t: [1e9] });
		const [plot] = makePlots([], [raw('a', [1, 2, 3], { cpu: 0 }), late]);
		expect(plot!.t).toEqual([0, 1e9, 2e9]);
		expect(plot!.lines[1]!.mean).toEqual([null, 7, null]);
	});
	it('tells where a counter was shared', () => {
		const running_ppm = [1e6, 5e5, 1e6];
		const [plot] = makePlots([], [raw('a', [1, 2, 3], { running_ppm })]);
		expect(plot!.shared).toEqual([1]);
		expect(plot!.running).toBe(0.5);
	});
	it('leaves out what has no points', () => {
		const timeline: Timeline = { from_ns: 0, to_ns: 1, counters: [], samples: [], marks: [] };
		timeline.samples = [{ event: 'x', t: [], rate: [], count: [] }];
		expect(storedPlots(timeline)).toEqual([]);
	});
});

describe('the value axis', () => {
	it.each([
		[0, 1],
		[0.98, 1],
		[1.02, 1.5],
		[320, 500],
		[70, 70],
		[88, 100],
	])('%d ends at %d', (value, top) => expect(roundTop(value)).toBe(top));

	it('is not ruled by one spike', () => {
		const mean = Array.from({ length: 400 }, () => 1);
		const line = (max: number) => [{ label: '', mean, min: mean, max: [max, ...mean.slice(1)] }];
		expect(axisTop(line(50))).toEqual({ top: 1.5, clipped: true });
		expect(axisTop(line(5)).clipped).toBe(false);
	});
});

describe('values', () => {
	it('are found by time', () => {
		const t = [0, 10, 20];
		expect([-1, 0, 9, 10, 99].map((ns) => pointAt(t, ns))).toEqual([-1, 0, 0, 1, 2]);
	});
	it('have a mean that ignores gaps', () => {
		const [plot] = makePlots([], [raw('a', [2, NaN, 4, 8])]);
		expect(meanIn(plot!, { from: 0, to: 3e9 })).toBe(3);
		expect(meanIn(plot!, { from: 2.5e9, to: 4e9 })).toBeCloseTo((4 * 0.5 + 8) / 1.5, 6);
		expect(meanIn(plot!, { from: 1e9, to: 2e9 })).toBeNull();
	});
	it('make a rate out of few samples without losing any', () => {
		const t = Array.from({ length: 100 }, (_, i) => i * 1e7);
		const count = t.map((_, i) => (i % 10 === 0 ? 1 : 0));
		const rate = smoothRate(t, count, 1e9, 12);
		const sum = rate.reduce<number>((a, v) => a + v! * 1e-2, 0);
		expect(sum).toBeCloseTo(10, 6);
		expect(new Set(rate).size).toBeLessThan(30);
	});
});

describe('flags', () => {
	const range = { from: 0, to: 100 };
	it('become one where they would touch', () => {
		const marks = [
			{ ns: 10, kind: 'lost', count: 3 },
			{ ns: 11, kind: 'lost', count: 4 },
			{ ns: 80, kind: 'lost', count: 1 },
			{ ns: 500, kind: 'lost', count: 1 },
		] as const;
		const flags = flagsOf([...marks], range, 1000, 18);
		expect(flags.map((f) => f.text)).toEqual([
			'7 samples were lost here',
			'1 sample was lost here',
		]);
		expect(flags[0]!.part).toBe(0.1);
	});
	it('say what was said', () => {
		const [flag] = flagsOf([{ ns: 5, kind: 'note', text: 'late' }], range, 100, 18);
		expect(flag!.text).toBe('late');
	});
});

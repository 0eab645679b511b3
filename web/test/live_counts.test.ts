import { describe, expect, it } from 'vitest';
import { CounterSeries } from '../src/logic/live/live_counts';

const MS = 1e6;
const S = 1e9;

/** @count intervals of 10 ms, @value in each, from @from on. */
function fill(series: CounterSeries, from: number, count: number, value: (i: number) => number) {
	for (let i = 0; i < count; i++) series.add(from + (i + 1) * 10 * MS, 10 * MS, value(i));
}

describe('a counter that streams in', () => {
	it('gives rates a second, as the server does', () => {
		const series = new CounterSeries();
		fill(series, 0, 100, () => 5);
		const line = series.line(0, S, 10);
		expect([...line.t]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((i) => i * 100 * MS));
		for (const rate of line.mean) expect(rate).toBeCloseTo(500);
	});

	it('keeps spikes in min and max, and the mean by time', () => {
		const series = new CounterSeries();
		fill(series, 0, 100, (i) => (i === 42 ? 1000 : 1));
		const line = series.line(0, S, 1);
		expect(line.max[0]).toBe(100_000);
		expect(line.min[0]).toBe(100);
		expect(line.mean[0]).toBeCloseTo(1099);
	});

	it('has nothing where nothing was counted, which is not zero', () => {
		const series = new CounterSeries();
		fill(series, 0, 20, () => 1);
		fill(series, 600 * MS, 20, () => 0);
		const { mean } = series.line(0, S, 10);
		expect(mean[1]).toBeCloseTo(100);
		expect([...mean.subarray(2, 6)].every(Number.isNaN)).toBe(true);
		expect(mean[6]).toBe(0);
		expect(mean[9]).toBeNaN();
	});

	it('spreads an interval over all pixels that it touches', () => {
		const series = new CounterSeries();
		series.add(100 * MS, 100 * MS, 50);
		const { mean, min } = series.line(0, 200 * MS, 20);
		for (let i = 0; i < 10; i++) expect([mean[i], min[i]]).toEqual([500, 500]);
		expect(mean[10]).toBeNaN();
	});

	it('cuts what lies partly in the window', () => {
		const series = new CounterSeries();
		series.add(100 * MS, 100 * MS, 50);
		expect(series.line(50 * MS, 60 * MS, 1).mean[0]).toBeCloseTo(500);
		expect(series.line(200 * MS, 300 * MS, 2).mean[0]).toBeNaN();
	});

	it('knows an hour within a few hundred kilobytes', () => {
		const series = new CounterSeries();
		const count = 360_000;
		fill(series, 0, count, (i) => (i === 1234 ? 77 : 1));
		const whole = series.line(0, 3600 * S, 600);
		for (const rate of whole.mean) expect(rate).toBeGreaterThan(99);
		// A spike of the first minute is still there.
		expect(whole.max[2]).toBeCloseTo(7700);
		// The newest are there one by one.
		const end = 3600 * S;
		expect([...series.line(end - 100 * MS, end, 10).mean].map(Math.round)).toEqual(
			Array(10).fill(100),
		);
		const saved = series.save();
		const bytes =
			saved.newest.rows.byteLength + saved.levels.reduce((sum, l) => sum + l.cells.byteLength, 0);
		expect(bytes).toBeLessThan(700_000);
	});

	it('adds up to the same at every resolution', () => {
		const series = new CounterSeries();
		fill(series, 0, 20_000, (i) => i % 7);
		const sum = (points: number) => {
			const { mean } = series.line(0, 200 * S, points);
			return mean.reduce((all, rate) => all + rate, 0) * (200 / points);
		};
		const exact = Array.from({ length: 20_000 }, (_, i) => i % 7).reduce((a, b) => a + b, 0);
		for (const points of [1, 7, 100, 1500]) expect(sum(points)).toBeCloseTo(exact, 0);
	});

	it('takes what came before from the store, up to what it has itself', () => {
		const series = new CounterSeries();
		fill(series, 5 * S, 100, () => 2);
		for (let i = 0; i < 60; i++) series.addPast(i * 100 * MS, (i + 1) * 100 * MS, 90, 110, 100);
		const { mean } = series.line(0, 6 * S, 12);
		expect(mean[0]).toBeCloseTo(100);
		expect(mean[9]).toBeCloseTo(100);
		expect(mean[10]).toBeCloseTo(200);
	});

	it('goes on in the copy of another tab', () => {
		const series = new CounterSeries(128, 64);
		fill(series, 0, 1000, (i) => i);
		const copy = new CounterSeries(128, 64).restore(structuredClone(series.save()));
		fill(series, 10 * S, 500, () => 3);
		fill(copy, 10 * S, 500, () => 3);
		expect(copy.line(0, 15 * S, 50)).toEqual(series.line(0, 15 * S, 50));
		expect(copy.endNs).toBe(15 * S);
	});

	it('ignores intervals of no length', () => {
		const series = new CounterSeries();
		series.add(10 * MS, 0, 5);
		expect(series.line(0, 10 * MS, 1).mean[0]).toBeNaN();
	});
});

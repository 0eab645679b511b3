import { describe, expect, it } from 'vitest';
import {
	askRange,
	dragged,
	fit,
	gripAt,
	liveRange,
	pan,
	pinch,
	setEdge,
	span,
	steadyPixels,
	tickStep,
	timeAt,
	timeTicks,
	zoomAround,
	zoomOrAll,
} from '../src/logic/timeline/timeline_range';

const whole = { from: 0, to: 100e9 };

describe('zoom and pan', () => {
	it('keeps what is under the pointer', () => {
		const range = { from: 20e9, to: 60e9 };
		const closer = zoomAround(range, 0.25, 0.5, whole);
		expect(span(closer)).toBe(20e9);
		expect(timeAt(0.25, closer)).toBeCloseTo(timeAt(0.25, range), 0);
	});
	it('never leaves the run', () => {
		expect(zoomAround({ from: 0, to: 10e9 }, 0.9, 8, whole)).toEqual({ from: 0, to: 80e9 });
		expect(zoomAround(whole, 0.3, 5, whole)).toEqual(whole);
		expect(pan({ from: 80e9, to: 100e9 }, 1, whole)).toEqual({ from: 80e9, to: 100e9 });
		expect(pan({ from: 10e9, to: 20e9 }, -0.5, whole)).toEqual({ from: 5e9, to: 15e9 });
		expect(fit({ from: -5, to: 200e9 }, whole)).toEqual(whole);
	});
	it('stops coming closer', () => {
		let range = whole;
		for (let i = 0; i < 200; i++) range = zoomAround(range, 0.5, 0.5, whole);
		expect(span(range)).toBe(1000);
	});
	it('keeps the times under two fingers', () => {
		const start = { from: 20e9, to: 60e9 };
		const wide = pinch(start, [0.4, 0.6], [0.3, 0.7], whole);
		expect(span(wide)).toBe(20e9);
		expect(timeAt(0.3, wide)).toBeCloseTo(timeAt(0.4, start), 0);
		expect(timeAt(0.7, wide)).toBeCloseTo(timeAt(0.6, start), 0);
	});
	it('says nothing when all is shown', () => {
		expect(zoomOrAll(whole, whole)).toBeNull();
		expect(zoomOrAll({ from: 0, to: 50e9 }, whole)).toEqual({ from: 0, to: 50e9 });
	});
});

describe('brushes', () => {
	const brushes = { window: { from: 20e9, to: 40e9 }, second: { from: 60e9, to: 70e9 } };
	it('are taken by their edges', () => {
		expect(gripAt(202, brushes, whole, 1000, 5)).toEqual({ brush: 'window', part: 'from' });
		expect(gripAt(398, brushes, whole, 1000, 5)).toEqual({ brush: 'window', part: 'to' });
		expect(gripAt(700, brushes, whole, 1000, 5)).toEqual({ brush: 'second', part: 'to' });
		expect(gripAt(300, brushes, whole, 1000, 5)).toBeNull();
	});
	it('grow to either side and stay inside', () => {
		const grip = { brush: 'window', part: 'new' } as const;
		expect(dragged(grip, null, 30e9, 10e9, whole)).toEqual({ from: 10e9, to: 30e9 });
		expect(dragged(grip, null, 30e9, 400e9, whole)).toEqual({ from: 30e9, to: 100e9 });
	});
	it('turn over when an edge passes the other', () => {
		const grip = { brush: 'window', part: 'from' } as const;
		expect(dragged(grip, brushes.window, 20e9, 55e9, whole)).toEqual({ from: 40e9, to: 55e9 });
	});
	it('move as they are', () => {
		const grip = { brush: 'window', part: 'all' } as const;
		expect(dragged(grip, brushes.window, 30e9, 35e9, whole)).toEqual({ from: 25e9, to: 45e9 });
		expect(dragged(grip, brushes.window, 30e9, 200e9, whole)).toEqual({ from: 80e9, to: 100e9 });
	});
	it('are set by keys', () => {
		expect(setEdge(null, 'from', 10e9, whole)).toEqual({ from: 10e9, to: 100e9 });
		expect(setEdge({ from: 10e9, to: 100e9 }, 'to', 30e9, whole)).toEqual({ from: 10e9, to: 30e9 });
		expect(setEdge({ from: 10e9, to: 30e9 }, 'from', 50e9, whole).from).toBe(50e9);
		expect(setEdge(null, 'to', 0, whole)).toEqual({ from: 0, to: 1 });
	});
});

describe('ticks', () => {
	it.each([
		[10e9, 10, 1e9],
		[4.7e9, 8, 1e9],
		[100e9, 8, 15e9],
		[600e9, 8, 120e9],
		[3e6, 6, 5e5],
		[0, 5, 1],
	])('%d ns in %d parts: every %d', (length, most, step) => {
		expect(tickStep(length, most)).toBe(step);
	});
	it('are multiples of the step', () => {
		expect(timeTicks({ from: 1.5e9, to: 4.2e9 }, 3)).toEqual({ step: 1e9, at: [2e9, 3e9, 4e9] });
	});
});

describe('a run that goes on', () => {
	it('grows in steps, then scrolls', () => {
		expect(liveRange(1e9)).toEqual({ from: 0, to: 5e9 });
		expect(liveRange(7e9)).toEqual({ from: 0, to: 10e9 });
		expect(liveRange(95e9)).toEqual({ from: 65e9, to: 95e9 });
	});
	it('has pixels that stay where they are', () => {
		const a = steadyPixels({ from: 65.01e9, to: 95.01e9 }, 300);
		const b = steadyPixels({ from: 65.05e9, to: 95.05e9 }, 300);
		expect(a.from % 100e6).toBe(0);
		expect(a.from).toBe(b.from);
		expect((a.to - a.from) / a.points).toBe(100e6);
		expect(a.to).toBeGreaterThanOrEqual(95.01e9);
	});
});

describe('what is asked for', () => {
	it('is all when almost all is shown', () => {
		expect(askRange(null, { from: 5e9, to: 95e9 }, whole)).toBeNull();
	});
	it('has a margin, and is kept while it is good enough', () => {
		const first = askRange(null, { from: 40e9, to: 50e9 }, whole)!;
		expect(first).toEqual({ from: 35e9, to: 55e9 });
		expect(askRange(first, { from: 44e9, to: 54e9 }, whole)).toBe(first);
		expect(askRange(first, { from: 50e9, to: 60e9 }, whole)).toEqual({ from: 45e9, to: 65e9 });
		expect(askRange(first, { from: 44e9, to: 46e9 }, whole)).toEqual({ from: 43e9, to: 47e9 });
	});
});

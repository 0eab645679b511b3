import { describe, expect, it } from 'vitest';
import {
	formatBytes,
	formatAmount,
	formatCount,
	formatDuration,
	formatShare,
	formatTime,
	formatValue,
	formatWindow,
	parseTime,
	parseWindowText,
	rateUnit,
	sumUnit,
} from '../src/logic/units';

describe('numbers', () => {
	it.each([
		[0, '0'],
		[7, '7'],
		[999, '999'],
		[999.7, '1 k'],
		[1234567, '1.23 M'],
		[-45600, '-45.6 k'],
		[0.5, '0.5'],
		[0.00012, '0.12 m'],
		[NaN, '–'],
	])('%d is %s', (value, text) => expect(formatCount(value)).toBe(text));

	it('has bytes and shares', () => {
		expect(formatBytes(1500000)).toBe('1.5 MB');
		expect(formatBytes(12)).toBe('12 B');
		expect(formatShare(0.1234)).toBe('12.3 %');
		expect(formatShare(0.0123)).toBe('1.23 %');
		expect(formatShare(0.00000001)).toBe('< 0.01 %');
	});
});

describe('units of counters', () => {
	it('shows task-clock as CPUs kept busy', () => {
		const unit = rateUnit('task-clock', 'msec', 1e-6);
		expect(formatValue(980e6, unit)).toBe('0.98 CPUs');
		expect(formatValue(1e9, rateUnit('cpu-clock:u', 'msec', 1e-6))).toBe('1 CPUs');
	});
	it('shows counts, bytes, energy', () => {
		expect(formatValue(1234, rateUnit('page-faults', null, 1))).toBe('1.23 k/s');
		expect(formatValue(12, rateUnit('page-faults', null, 1))).toBe('12/s');
		expect(formatValue(1000, rateUnit('uncore/reads/', 'MiB', 6.1e-5))).toBe('64 kB/s');
		expect(formatValue(5e9, rateUnit('power/energy-pkg/', 'Joules', 2e-9))).toBe('10 W');
		expect(formatValue(2e6, sumUnit('msec', 1e-6))).toBe('2 ms');
		expect(formatValue(null, rateUnit('x', null, 1))).toBe('–');
	});
});

describe('times', () => {
	it.each([
		[12, '12 ns'],
		[1500, '1.5 µs'],
		[12.34e6, '12.3 ms'],
		[1.8e9, '1.8 s'],
		[90e9, '1 min 30 s'],
		[3725e9, '1 h 2 min'],
	])('lasts %d ns: %s', (ns, text) => expect(formatDuration(ns)).toBe(text));

	it('is as exact as the step', () => {
		expect(formatTime(12.3456e9, 1e9)).toBe('12 s');
		expect(formatTime(12.3456e9, 1e7)).toBe('12.35 s');
		expect(formatTime(125.5e9, 1e8)).toBe('2:05.5');
		expect(formatTime(59.9999e9, 1e9)).toBe('1:00');
		expect(formatTime(3725e9, 1e9)).toBe('1:02:05');
		expect(formatTime(2e6, 1e6)).toBe('2 ms');
		expect(formatTime(2.25e6, 1e5)).toBe('2.3 ms');
		expect(formatTime(1.002e9, 1e6)).toBe('1.002 s');
		expect(formatTime(4.5e3, 100)).toBe('4.5 µs');
		expect(formatWindow(12.3e9, 14.1e9)).toBe('12.30 s – 14.10 s');
	});

	it('reads what people write', () => {
		expect(parseTime('12.3 s')).toBe(12.3e9);
		expect(parseTime('350ms')).toBe(350e6);
		expect(parseTime('1:05.5')).toBe(65.5e9);
		expect(parseTime('1 min 3 s')).toBe(63e9);
		expect(parseTime('2')).toBe(2e9);
		expect(parseTime('soon')).toBeNull();
		expect(parseTime('3 apples')).toBeNull();
		expect(parseWindowText('12.3 s – 14.1 s')).toEqual({ from: 12.3e9, to: 14.1e9 });
		expect(parseWindowText('100ms-0.2')).toEqual({ from: 100e6, to: 200e6 });
		expect(parseWindowText('2 to 1')).toBeNull();
		expect(parseWindowText('')).toBeNull();
	});

	it('reads back what it writes', () => {
		for (const [from, to] of [
			[1e9, 2e9],
			[61e9, 125e9],
			[1.5e6, 2.5e6],
			[3600e9, 7200e9],
		])
			expect(parseWindowText(formatWindow(from!, to!))).toEqual({ from, to });
	});
});

it('a single value that is a time has the unit that suits it', () => {
	const msec = sumUnit('msec', 1);
	expect(formatAmount(10.109, msec)).toBe('10.1 ms');
	expect(formatAmount(0.281, msec)).toBe('281 µs');
	expect(formatAmount(0, msec)).toBe('0 s');
	expect(formatAmount(1500, sumUnit(null, 1))).toBe('1.5 k');
});

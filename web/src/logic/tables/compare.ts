/* Two selections beside each other: which they are, and how their functions and counters differ. */
import type { CounterLine, DiffFunction, Timeline } from '../../api/types';
import type { Address, Window } from '../address';
import { sortRows, type Sort, type SortValue } from './table_sort';

export interface Side {
	run: string;
	window: Window | null;
}

export interface Sides {
	/** Two windows of one run, or two runs. */
	of: 'windows' | 'runs';
	before: Side;
	after: Side;
}

/** What the address says is to be compared. A brush belongs to the run that it was made on. */
export function sidesOf(a: Address): Sides | null {
	if (a.run && a.window && a.second)
		return {
			of: 'windows',
			before: { run: a.run, window: a.window },
			after: { run: a.run, window: a.second },
		};
	if (!a.a || !a.b) return null;
	return {
		of: 'runs',
		before: { run: a.a, window: a.a === a.run ? a.window : null },
		after: { run: a.b, window: a.b === a.run ? a.window : null },
	};
}

/** The address with both sides exchanged. */
export function swapped(a: Address, of: Sides['of']): Partial<Address> {
	return of === 'windows' ? { window: a.second, second: a.window } : { a: a.b, b: a.a };
}

export const DIFF_SORTS = ['name', 'module', 'before', 'after', 'self', 'total'] as const;

export function selfChange(f: DiffFunction): number {
	return f.self_after - f.self_before;
}

export function totalChange(f: DiffFunction): number {
	return f.total_after - f.total_before;
}

function valueOf(key: string): (f: DiffFunction) => SortValue {
	switch (key) {
		case 'name':
			return (f) => f.name.toLowerCase();
		case 'module':
			return (f) => f.module;
		case 'before':
			return (f) => f.self_before;
		case 'after':
			return (f) => f.self_after;
		case 'total':
			return (f) => Math.abs(totalChange(f));
		default:
			return (f) => Math.abs(selfChange(f));
	}
}

/** Changes are sorted by their size, whatever their sign. */
export function sortChanges(functions: DiffFunction[], sort: Sort): DiffFunction[] {
	return sortRows(functions, sort.down, valueOf(sort.key));
}

/** Values of one counter on one side, a second. */
export interface Rate {
	mean: number;
	/** Standard deviation over time. */
	spread: number;
	/** All together. */
	sum: number;
}

export interface CounterChange {
	name: string;
	unit: string | null;
	scale: number;
	/** null: it was not counted there. */
	before: Rate | null;
	after: Rate | null;
	/** The means differ by more than the values on either side vary. */
	clear: boolean;
}

/** A counter may come as a line for each CPU or thread: added up, point by point. */
function addUp(lines: CounterLine[]): { rates: number[]; sum: number } {
	const rates: (number | null)[] = [];
	let sum = 0;
	for (const line of lines)
		for (let i = 0; i < line.mean.length; i++) {
			const rate = line.mean[i] as number | null;
			sum += line.sum[i] ?? 0;
			const known = rate !== null && !Number.isNaN(rate);
			rates[i] = known ? (rates[i] ?? 0) + rate : (rates[i] ?? null);
		}
	return { rates: rates.filter((r) => r !== null), sum };
}

function rateOf(lines: CounterLine[]): Rate | null {
	const { rates, sum } = addUp(lines);
	if (!rates.length) return null;
	const mean = rates.reduce((a, b) => a + b, 0) / rates.length;
	const variance = rates.reduce((a, b) => a + (b - mean) ** 2, 0) / rates.length;
	return { mean, spread: Math.sqrt(variance), sum };
}

/** All counters of either side, in the order of the first. */
export function compareCounters(before: Timeline, after: Timeline): CounterChange[] {
	const lines = [...before.counters, ...after.counters];
	const named = (t: Timeline, name: string) => rateOf(t.counters.filter((c) => c.name === name));
	return [...new Set(lines.map((c) => c.name))].map((name) => {
		const { unit, scale } = lines.find((c) => c.name === name)!;
		const [b, a] = [named(before, name), named(after, name)];
		const clear = !!a && !!b && Math.abs(a.mean - b.mean) > Math.max(a.spread, b.spread);
		return { name, unit, scale, before: b, after: a, clear };
	});
}

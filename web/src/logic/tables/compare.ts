/* Two selections beside each other: which they are, and how their functions and counters differ. */
import type { CounterChange, DiffFunction } from '../../api/types';
import type { Address, Window } from '../address';
import { formatRelative } from './change';
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

/** The sides that the address asks to compare. A window applies to the run it was brushed on. */
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

/** The interval that a change lies in, relative to the mean before: "29 %", and "+23 % … +82 %". */
export function intervalOf(c: CounterChange): { half: string; ends: string } | null {
	if (c.low === null || c.high === null || !c.before?.mean) return null;
	const { mean } = c.before;
	const percent = ((c.high - c.low) / 2 / Math.abs(mean)) * 100;
	return {
		half: `${percent < 9.95 ? percent.toFixed(1) : percent.toFixed(0)} %`,
		ends: [c.low, c.high].map((end) => formatRelative(mean, mean + end)).join(' … '),
	};
}

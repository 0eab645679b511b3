/* Rows of the table of functions: shares, and how they differ from another selection. */
import type { FunctionRow, Functions } from '../../api/types';
import type { RowFilter } from './row_filter';
import { sortRows, type Sort, type SortValue } from './table_sort';

export interface FunctionLine {
	name: string;
	module: string;
	kind: string;
	/** Shares of the whole, 0…1. */
	self: number;
	total: number;
	selfSamples: number;
	totalSamples: number;
	/** Share after minus share before; null: nothing to compare with. */
	selfChange: number | null;
	totalChange: number | null;
}

/** The selection that changes refer to. */
export interface Other {
	functions: Functions;
	/** The other selection is the one before. */
	before: boolean;
}

export const FUNCTION_SORTS = [
	'name',
	'self',
	'total',
	'selfChange',
	'totalChange',
	'module',
	'kind',
] as const;

function keyOf(f: FunctionRow): string {
	return `${f.name}\n${f.module}\n${f.kind}`;
}

function line(f: FunctionRow, whole: number): FunctionLine {
	return {
		name: f.name,
		module: f.module,
		kind: f.kind,
		self: whole ? f.self / whole : 0,
		total: whole ? f.total / whole : 0,
		selfSamples: f.self_samples,
		totalSamples: f.total_samples,
		selfChange: null,
		totalChange: null,
	};
}

/** Lines of @mine; with @other also of functions that only @other has. */
export function functionLines(mine: Functions, other: Other | null): FunctionLine[] {
	// Pages of a run that goes on may overlap.
	const lines = new Map(mine.functions.map((f) => [keyOf(f), line(f, mine.total)]));
	if (!other) return [...lines.values()];
	const theirs = new Map(other.functions.functions.map((f) => [keyOf(f), f]));
	for (const [key, f] of theirs)
		if (!lines.has(key))
			lines.set(key, line({ ...f, self: 0, total: 0, self_samples: 0, total_samples: 0 }, 0));
	const sign = other.before ? 1 : -1;
	for (const [key, mineLine] of lines) {
		const f = theirs.get(key);
		const theirLine = f ? line(f, other.functions.total) : null;
		mineLine.selfChange = sign * (mineLine.self - (theirLine?.self ?? 0));
		mineLine.totalChange = sign * (mineLine.total - (theirLine?.total ?? 0));
	}
	return [...lines.values()];
}

function valueOf(key: string): (f: FunctionLine) => SortValue {
	if (key === 'selfChange') return (f) => f.selfChange && Math.abs(f.selfChange);
	if (key === 'totalChange') return (f) => f.totalChange && Math.abs(f.totalChange);
	if (key === 'name') return (f) => f.name.toLowerCase();
	return (f) => f[key as 'self' | 'total' | 'module' | 'kind'];
}

/** Changes are sorted by how large they are, in either direction. */
export function arrange(lines: FunctionLine[], filter: RowFilter, sort: Sort): FunctionLine[] {
	const kept = lines.filter((f) => filter.matches(f.name, f.module));
	return sortRows(kept, sort.down, valueOf(sort.key));
}

/** Tab-separated values, for a spreadsheet. */
export function functionsTsv(lines: readonly FunctionLine[], changes: boolean): string {
	const clean = (text: string) => text.replace(/[\t\r\n]/g, ' ');
	const percent = (part: number | null) => (part === null ? '' : (part * 100).toFixed(3));
	const head = ['function', 'module', 'kind', 'self %', 'self samples', 'total %', 'total samples'];
	if (changes) head.push('self change, points', 'total change, points');
	const rows = lines.map((f) => {
		const words = [clean(f.name), clean(f.module), f.kind];
		words.push(percent(f.self), String(f.selfSamples));
		words.push(percent(f.total), String(f.totalSamples));
		if (changes) words.push(percent(f.selfChange), percent(f.totalChange));
		return words.join('\t');
	});
	return [head.join('\t'), ...rows].join('\n') + '\n';
}

/** Search text for the flame graph: the plain name, unless it would find other functions, too. */
export function searchFor(f: FunctionLine, all: FunctionLine[]): string {
	const name = f.name.toLowerCase();
	if (!all.some((o) => o.name !== f.name && o.name.toLowerCase().includes(name))) return f.name;
	return `/^${f.name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}$/`;
}

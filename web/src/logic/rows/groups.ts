/* Groups of an event table as rows: their order, and the condition that selects the rows of a group. */
import type { TableCell, TableColumn, TableGroup, TableGroups } from '../../api/types';
import { plural } from '../format';
import { sortRows, type SortValue } from '../tables/table_sort';
import { addTerm, termOf } from './condition';

export const STATISTICS = ['sum', 'min', 'mean', 'max', 'p50', 'p90', 'p99'] as const;
export type Statistic = (typeof STATISTICS)[number];

/** "a,b" → at most two names, of columns that exist. */
export function parseBy(text: string | null, columns: readonly TableColumn[]): string[] {
	const names = (text ?? '').split(',').filter((n) => columns.some((c) => c.name === n));
	return [...new Set(names)].slice(0, 2);
}

/** The default column to group by: the name of the thread, or the first column. */
export function usualBy(columns: readonly TableColumn[]): string | null {
	return (columns.find((c) => c.name === 'comm') ?? columns[0])?.name ?? null;
}

export function sortKeysOf(by: readonly string[]): string[] {
	return [...by.map((_, i) => `key${i}`), 'count', ...STATISTICS];
}

/** @number: the column is numeric, so a string is a large integer (api/exact.ts). */
function sortValue(cell: TableCell | undefined, number: boolean): SortValue {
	if (cell === null || cell === undefined) return null;
	if (number && typeof cell === 'string' && /^-?\d+$/.test(cell)) return BigInt(cell);
	return Array.isArray(cell) ? `${cell[2]} ${cell[1]}` : cell;
}

/** @numbers: for each key, whether its column is numeric. */
export function sortGroups(
	groups: readonly TableGroup[],
	key: string,
	down: boolean,
	numbers: readonly boolean[],
) {
	const place = /^key(\d)$/.exec(key);
	const at = Number(place?.[1]);
	return sortRows(groups, down, (g) =>
		place
			? sortValue(g.keys[at], numbers[at] ?? false)
			: sortValue(g[key as Statistic | 'count'], true),
	);
}

/** Sentences about groups and rows that the answer leaves out. */
export function groupNotes(data: TableGroups): string[] {
	const { groups, groups_in_all: all, rows_left_out: left } = data;
	const largest = `These are the ${groups.length.toLocaleString('en')} largest of ${plural(all, 'group')}.`;
	return [
		groups.length < all ? largest : '',
		left
			? `${plural(left, 'row')} of further groups are left out. Narrow the selection to see them.`
			: '',
		groups.some((g) => g.p50 === null)
			? 'There are too many different values for percentiles. Narrow the selection to see them.'
			: '',
	].filter(Boolean);
}

/** Extends @where by the keys of a group; null if a key cannot be written in a condition. */
export function whereOfGroup(
	where: string | null,
	group: TableGroup,
	by: readonly string[],
	columns: readonly TableColumn[],
): string | null {
	let out = where ?? '';
	for (const [i, name] of by.entries()) {
		const column = columns.find((c) => c.name === name);
		const term = column && termOf(column, group.keys[i], columns);
		if (!term) return null;
		out = addTerm(out, term);
	}
	return out || null;
}

/* Columns of an event table: which are visible, how wide they are, and how their values are written. */
import type { OpenedEvent, Table, TableCell, TableColumn } from '../../api/types';
import { formatAmount, formatCount, formatDuration, formatTime, sumUnit } from '../units';

/** Tables shown by other views. */
const OTHERS = ['samples', 'counts', 'counters'];

/** The event tables, by descending number of rows. */
export function eventTables(tables: readonly Table[]): Table[] {
	return tables.filter((t) => !OTHERS.includes(t.name)).sort((a, b) => b.rows - a.rows);
}

/** PERF_TYPE_TRACEPOINT */
const TRACEPOINT = 2;

/** Whether an event with fields is sampled. Its type decides: names are chosen by users. */
export function samplesTracepoints(events: readonly OpenedEvent[] | null): boolean {
	return (events ?? []).some((e) => e.sampled && e.type === TRACEPOINT);
}

/** The table named in the address, or the first one. */
export function chosenTable(tables: readonly Table[], name: string | null): Table | null {
	return tables.find((t) => t.name === name) ?? tables[0] ?? null;
}

/** Whether values are internal numbers, without a meaning to users. */
function isInternal(c: TableColumn): boolean {
	return c.type === 'stack';
}

/** Whether the column is a field of the event itself. */
function isOwn(c: TableColumn): boolean {
	return c.role === 'value' && !c.derived && c.name !== 'address';
}

/** Columns that can be shown. */
export function columnsToChoose(columns: readonly TableColumn[]): TableColumn[] {
	return columns.filter((c) => !isInternal(c));
}

/** Numeric columns, which can be aggregated or drawn. */
export function numberColumns(columns: readonly TableColumn[]): TableColumn[] {
	const numbers = columns.filter((c) => c.number && c.type !== 'time' && c.role !== 'key');
	// The event's own fields first, then the columns of all events. __syscall_nr is the same in all rows.
	const rank = (c: TableColumn) => (!isOwn(c) ? 2 : c.name.startsWith('__') ? 1 : 0);
	return numbers.sort((a, b) => rank(a) - rank(b));
}

/** Columns that can weight a flame graph; empty if the table has no stacks. */
export function weightColumns(columns: readonly TableColumn[]): TableColumn[] {
	if (!columns.some((c) => c.type === 'stack')) return [];
	return numberColumns(columns).filter((c) => c.type !== 'float');
}

/** The default weight of a flame graph: a duration or size if there is one, as their sum says more than that of
 * file descriptors. */
export function usualWeight(columns: readonly TableColumn[]): TableColumn | null {
	const weights = weightColumns(columns);
	const isSize = (c: TableColumn) =>
		c.type === 'duration' || /(^|_)(bytes|size|len|length|count|nr_pages)(_|$)/.test(c.name);
	return weights.find(isSize) ?? weights[0] ?? null;
}

/** Columns that rows can be grouped by. */
export function groupColumns(columns: readonly TableColumn[]): TableColumn[] {
	return columnsToChoose(columns).filter((c) => c.type !== 'time');
}

/** Returns the names of the columns whose values differ between rows. */
export function varyingColumns(
	columns: readonly TableColumn[],
	rows: readonly TableCell[][],
): string[] {
	return columns
		.filter((_, i) => rows.some((row) => String(row[i]) !== String(rows[0]![i])))
		.map((c) => c.name);
}

/** Derived columns that the column of the thread shows already. */
function isOfThread(c: TableColumn): boolean {
	return c.derived && c.role !== 'stack' && ['pid', 'tid', 'comm'].includes(c.name);
}

/**
 * The columns that are visible by default: those whose values differ (@varying), and those that are in use (@used: by
 * the condition or the sort order). If all rows are equal, the fields of the event.
 */
export function usualColumns(
	columns: readonly TableColumn[],
	varying: ReadonlySet<string>,
	used: readonly string[],
): string[] {
	const shown = columnsToChoose(columns).filter((c) => {
		if (used.includes(c.name) || c.type === 'time' || c.type === 'thread') return true;
		return !isOfThread(c) && varying.has(c.name);
	});
	const any = shown.some(isOwn);
	return columns.filter((c) => shown.includes(c) || (!any && isOwn(c))).map((c) => c.name);
}

/** "a,b" of the address → names of existing columns; null: no choice. */
export function parseNames(text: string | null, columns: readonly TableColumn[]): string[] | null {
	const names = (text ?? '').split(',').filter((n) => columns.some((c) => c.name === n));
	return names.length ? names : null;
}

/** Formats a value for display. */
export function cellText(column: TableColumn, cell: TableCell | undefined): string {
	if (cell === null || cell === undefined) return '–';
	if (Array.isArray(cell)) return `${cell[2]} ${cell[1]}`;
	if (column.type === 'time') return formatTime(Number(cell), 1000);
	if (column.type === 'duration') return formatDuration(Number(cell));
	return String(cell);
}

/** Formats a value with all its digits, for a tooltip. */
export function cellTitle(column: TableColumn, cell: TableCell | undefined): string {
	if (cell === null || cell === undefined) return '';
	if (Array.isArray(cell)) return `${cell[2]}, thread ${cell[1]} of process ${cell[0]}`;
	const unit = column.type === 'time' || column.type === 'duration' ? 'ns' : column.unit;
	return unit ? `${cell} ${unit}` : String(cell);
}

export function isNumeric(c: TableColumn): boolean {
	return !c.text && c.type !== 'thread';
}

/** Width of a digit in the widest common font. */
const CHARACTER_PX = 8.9;
const PADDING_PX = 18;
/** Room for the arrow of the sort order. */
const SIGN_PX = 14;
const WIDTH_MIN = 60;
const WIDTH_MAX = 300;

/** Width that fits the heading and the values of some rows. */
export function columnWidth(
	column: TableColumn,
	index: number,
	rows: readonly TableCell[][],
): number {
	return textWidth(
		column.name,
		rows.map((r) => cellText(column, r[index])),
	);
}

/** Width that fits a heading and the texts below it. */
export function textWidth(heading: string, texts: readonly string[]): number {
	const longest = texts.reduce((most, text) => Math.max(most, text.length), 0);
	const width = Math.max(
		longest * CHARACTER_PX + PADDING_PX,
		heading.length * CHARACTER_PX + PADDING_PX + SIGN_PX,
	);
	return Math.round(Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, width)));
}

/** The unit of the column's values in the terms of logic/units. */
export function unitOf(c: TableColumn): string | null {
	return c.unit ?? (c.type === 'duration' ? 'ns' : null);
}

/** Width that fits statistics of a column: without its unit, a number would be misleading. */
export function statisticWidth(
	column: TableColumn,
	heading: string,
	values: readonly (TableCell | undefined)[],
): number {
	return textWidth(
		heading,
		values.map((value) => statisticText(column, value)),
	);
}

/** Formats a statistic of a column; short integers stay exact. */
export function statisticText(column: TableColumn, value: TableCell | undefined): string {
	if (value === null || value === undefined || Array.isArray(value)) return '–';
	const number = Number(value);
	if (typeof value === 'string' && !Number.isFinite(number)) return value;
	const unit = unitOf(column);
	if (unit) return formatAmount(number, sumUnit(unit, 1));
	if (Number.isInteger(number) && Math.abs(number) < 1e7) return number.toLocaleString('en');
	return formatCount(number);
}

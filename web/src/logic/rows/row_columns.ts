/* Columns of a table of events: which are shown, how wide they are, how their values are written. */
import type { OpenedEvent, Table, TableCell, TableColumn } from '../../api/types';
import { formatAmount, formatCount, formatDuration, formatTime, sumUnit } from '../units';

/** Tables that other views show. */
const OTHERS = ['samples', 'counts', 'counters'];

/** Tables of events, those with most rows first. */
export function eventTables(tables: readonly Table[]): Table[] {
	return tables.filter((t) => !OTHERS.includes(t.name)).sort((a, b) => b.rows - a.rows);
}

/** PERF_TYPE_TRACEPOINT */
const TRACEPOINT = 2;

/** Whether events with fields are sampled. Users may name them as they like. */
export function samplesTracepoints(events: readonly OpenedEvent[] | null): boolean {
	return (events ?? []).some((e) => e.sampled && e.type === TRACEPOINT);
}

/** The table that the address names, or the first one. */
export function chosenTable(tables: readonly Table[], name: string | null): Table | null {
	return tables.find((t) => t.name === name) ?? tables[0] ?? null;
}

/** A number that only tacho itself can read. */
function isInternal(c: TableColumn): boolean {
	return c.type === 'stack';
}

/** A field of the event itself. */
function isOwn(c: TableColumn): boolean {
	return c.role === 'value' && !c.derived && c.name !== 'address';
}

/** Columns that can be chosen. */
export function columnsToChoose(columns: readonly TableColumn[]): TableColumn[] {
	return columns.filter((c) => !isInternal(c));
}

/** Columns with numbers that can be added up or drawn. */
export function numberColumns(columns: readonly TableColumn[]): TableColumn[] {
	const numbers = columns.filter((c) => c.number && c.type !== 'time' && c.role !== 'key');
	// The event's own values come before those that all events have; __syscall_nr is the same in all rows.
	const rank = (c: TableColumn) => (!isOwn(c) ? 2 : c.name.startsWith('__') ? 1 : 0);
	return numbers.sort((a, b) => rank(a) - rank(b));
}

/** Columns whose sums a flame graph can show: none of a table without stacks. */
export function weightColumns(columns: readonly TableColumn[]): TableColumn[] {
	if (!columns.some((c) => c.type === 'stack')) return [];
	return numberColumns(columns).filter((c) => c.type !== 'float');
}

/** What a flame graph adds up before anybody has chosen: a sum of sizes says more than one of file
 * descriptors. */
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

/** Names of columns whose values differ between rows. */
export function varyingColumns(
	columns: readonly TableColumn[],
	rows: readonly TableCell[][],
): string[] {
	return columns
		.filter((_, i) => rows.some((row) => String(row[i]) !== String(rows[0]![i])))
		.map((c) => c.name);
}

/** Parts of the thread, which has a column of its own. */
function isOfThread(c: TableColumn): boolean {
	return c.derived && c.role !== 'stack' && ['pid', 'tid', 'comm'].includes(c.name);
}

/**
 * The columns that are shown while the user has chosen none: those whose values differ (@varying), and those that are
 * in use (@used: in the condition, or sorted by). Of a table whose rows differ in nothing, its own fields.
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

/** "a,b" of the address → names that the table has; null: none was chosen. */
export function parseNames(text: string | null, columns: readonly TableColumn[]): string[] | null {
	const names = (text ?? '').split(',').filter((n) => columns.some((c) => c.name === n));
	return names.length ? names : null;
}

/** The value as the user reads it. */
export function cellText(column: TableColumn, cell: TableCell | undefined): string {
	if (cell === null || cell === undefined) return '–';
	if (Array.isArray(cell)) return `${cell[2]} ${cell[1]}`;
	if (column.type === 'time') return formatTime(Number(cell), 1000);
	if (column.type === 'duration') return formatDuration(Number(cell));
	return String(cell);
}

/** The value with all its digits, for a title. */
export function cellTitle(column: TableColumn, cell: TableCell | undefined): string {
	if (cell === null || cell === undefined) return '';
	if (Array.isArray(cell)) return `${cell[2]}, thread ${cell[1]} of process ${cell[0]}`;
	const unit = column.type === 'time' || column.type === 'duration' ? 'ns' : column.unit;
	return unit ? `${cell} ${unit}` : String(cell);
}

export function isNumeric(c: TableColumn): boolean {
	return !c.text && c.type !== 'thread';
}

/** Digits of the widest usual font. */
const CHARACTER_PX = 8.9;
const PADDING_PX = 18;
/** For the sign of the order. */
const SIGN_PX = 14;
const WIDTH_MIN = 60;
const WIDTH_MAX = 300;

/** Width for the heading and the values of some rows. */
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

/** Width for a heading and texts below it. */
export function textWidth(heading: string, texts: readonly string[]): number {
	const longest = texts.reduce((most, text) => Math.max(most, text.length), 0);
	const width = Math.max(
		longest * CHARACTER_PX + PADDING_PX,
		heading.length * CHARACTER_PX + PADDING_PX + SIGN_PX,
	);
	return Math.round(Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, width)));
}

/** The unit of the column's values, as logic/units knows it. */
export function unitOf(c: TableColumn): string | null {
	return c.unit ?? (c.type === 'duration' ? 'ns' : null);
}

/** Width for statistics of a column: a number whose unit is cut off would say something else. */
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

/** A statistic of a column: whole numbers that are not long stay exact. */
export function statisticText(column: TableColumn, value: TableCell | undefined): string {
	if (value === null || value === undefined || Array.isArray(value)) return '–';
	const number = Number(value);
	if (typeof value === 'string' && !Number.isFinite(number)) return value;
	const unit = unitOf(column);
	if (unit) return formatAmount(number, sumUnit(unit, 1));
	if (Number.isInteger(number) && Math.abs(number) < 1e7) return number.toLocaleString('en');
	return formatCount(number);
}

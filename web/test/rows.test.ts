/* Tables of events: conditions, pages, long strips of rows, columns, groups. */
import { describe, expect, test } from 'vitest';
import { parseExact } from '../src/api/exact';
import type { TableColumn, TableHeat } from '../src/api/types';
import { addTerm, namesIn, splitMarked, termOf } from '../src/logic/rows/condition';
import { groupNotes, parseBy, sortGroups, whereOfGroup } from '../src/logic/rows/groups';
import { PAGE_ROWS, pagesOf, pagesToDrop, pagesWanted } from '../src/logic/rows/pages';
import {
	cellText,
	chosenTable,
	eventTables,
	numberColumns,
	samplesTracepoints,
	parseNames,
	statisticText,
	statisticWidth,
	usualColumns,
	varyingColumns,
	usualWeight,
	weightColumns,
} from '../src/logic/rows/row_columns';
import { placeAfter, placeAt, rowsTopOf, scrollOf, STRIP_MAX } from '../src/logic/rows/strip';
import { partOf, valueAt, windowOf } from '../src/logic/rows/value_heat';

function column(name: string, part: Partial<TableColumn> = {}): TableColumn {
	return {
		name,
		type: 'unsigned',
		role: 'value',
		unit: null,
		meaning: '',
		bytes: 8,
		derived: false,
		text: false,
		number: part.type === undefined || part.type === 'signed',
		...part,
	};
}

const TEXT = { type: 'string', role: 'key', text: true, derived: true } as const;
const COLUMNS = [
	column('time', { type: 'time', role: 'time' }),
	column('weight', { role: 'weight' }),
	column('thread', { type: 'thread', role: 'thread' }),
	column('stack', { type: 'stack', role: 'stack' }),
	column('address', { type: 'address' }),
	column('__syscall_nr', { type: 'signed' }),
	column('which'),
	column('ret', { type: 'signed' }),
	column('tid', { role: 'key', derived: true, number: true }),
	column('comm', TEXT),
];
const named = (name: string) => COLUMNS.find((c) => c.name === name)!;

test('a statistic has room for its unit', () => {
	const duration = column('duration', { type: 'duration' });
	const width = statisticWidth(duration, 'max', [12, 8_910_123]);
	expect(statisticText(duration, 8_910_123)).toBe('8.91 ms');
	// Characters of a usual font at 14 px, and the padding of a cell.
	expect(width).toBeGreaterThanOrEqual(7 * 8 + 16);
	expect(statisticWidth(duration, 'max', [])).toBeLessThan(width);
	expect(statisticWidth(duration, 'sum of duration', [12])).toBeGreaterThan(width);
});

describe('a condition for a value', () => {
	const term = (name: string, cell: Parameters<typeof termOf>[1]) =>
		termOf(named(name), cell, COLUMNS);

	test('numbers, addresses, texts and threads', () => {
		expect(term('ret', -22)).toBe('ret == -22');
		expect(term('address', '0x7f00')).toBe('address == 0x7f00');
		expect(term('comm', 'cat')).toBe('comm == "cat"');
		expect(term('thread', [7, 8, 'cat'])).toBe('tid == 8');
	});

	test('a text is quoted by the quotes that it has not', () => {
		expect(term('comm', 'a "b"')).toBe(`comm == 'a "b"'`);
		expect(term('comm', `"it's"`)).toBeNull();
	});

	test('an integer of 64 bits has all its digits', () => {
		expect(term('which', '18446744073709551615')).toBe('which == 18446744073709551615');
		expect(term('ret', '-9223372036854775808')).toBe('ret == -9223372036854775808');
	});

	test('what cannot be compared has none', () => {
		expect(term('comm', 'no UTF-8: \ufffd')).toBeNull();
		expect(term('time', 5)).toBeNull();
		expect(term('stack', 5)).toBeNull();
		expect(term('which', 2 ** 64)).toBeNull();
		expect(term('which', undefined)).toBeNull();
		expect(termOf(named('thread'), [7, 8, 'cat'], [named('thread')])).toBeNull();
	});

	test('is joined to the condition before it, once', () => {
		expect(addTerm(null, 'a == 1')).toBe('a == 1');
		expect(addTerm('a == 1', 'b == 2')).toBe('a == 1 && b == 2');
		expect(addTerm('a == 1 && b == 2', 'b == 2')).toBe('a == 1 && b == 2');
		expect(addTerm('a == 11', 'a == 1')).toBe('a == 11 && a == 1');
	});

	test('an alternative is put into parentheses, unless it is in quotes or has them', () => {
		expect(addTerm('a == 1 || b == 2', 'c == 3')).toBe('(a == 1 || b == 2) && c == 3');
		expect(addTerm('(a == 1 || b == 2)', 'c == 3')).toBe('(a == 1 || b == 2) && c == 3');
		expect(addTerm('a == "x || y"', 'c == 3')).toBe('a == "x || y" && c == 3');
	});

	test('names of columns are found outside of texts', () => {
		expect(namesIn('ret < 0 && comm == "which ret"')).toEqual(['ret', 'comm']);
		expect(namesIn(null)).toEqual([]);
	});

	test('the marked text of a message is kept as it is', () => {
		expect(splitMarked('No field.\n  a b\n  ^')).toEqual({
			sentence: 'No field.',
			marked: '  a b\n  ^',
		});
		expect(splitMarked('No field.').marked).toBeNull();
	});
});

describe('pages', () => {
	test('with rows on the screen', () => {
		expect(pagesOf(0, 1)).toEqual([0]);
		expect(pagesOf(PAGE_ROWS - 1, PAGE_ROWS + 1)).toEqual([0, 1]);
		expect(pagesOf(5, 5)).toEqual([0]);
	});

	test('then their neighbours, as far as there are rows', () => {
		expect(pagesWanted(0, 10, 10)).toEqual([0]);
		expect(pagesWanted(0, 10, PAGE_ROWS + 1)).toEqual([0, 1]);
		expect(pagesWanted(PAGE_ROWS * 5, PAGE_ROWS * 5 + 9, 1e6)).toEqual([5, 6, 4]);
		expect(pagesWanted(0, 10, 0)).toEqual([0]);
	});

	test('the farthest are dropped', () => {
		expect(pagesToDrop([0, 1, 2, 9, 8], 9, 3)).toEqual([1, 0]);
		expect(pagesToDrop([0, 1], 0, 3)).toEqual([]);
	});
});

describe('a strip that is higher than an element can be', () => {
	const strip = { rows: 28e6, view: 400 };
	const end = STRIP_MAX - strip.view;

	test('the scroll bar reaches the first and the last row', () => {
		expect(rowsTopOf(0, strip)).toBe(0);
		expect(rowsTopOf(end, strip)).toBe(strip.rows - strip.view);
		for (const scroll of [0, 1000, 3e6, 4e6, 5e6, end])
			expect(scrollOf(rowsTopOf(scroll, strip), strip)).toBeCloseTo(scroll, 3);
	});

	test('a small step is as long as it is', () => {
		let place = placeAt(14e6, 0, strip);
		for (let i = 0; i < 1000; i++) {
			const before = place.scroll + place.offset;
			place = placeAfter(place, place.scroll + 100, strip);
			expect(place.scroll + place.offset).toBeCloseTo(before + 100, 3);
		}
	});

	test('steps come to the end from anywhere, and back', () => {
		let place = placeAt(25.9e6, 0, strip);
		for (let i = 0; i < 30_000; i++)
			place = placeAfter(place, Math.min(end, place.scroll + 100), strip);
		expect(place.scroll + place.offset).toBe(strip.rows - strip.view);
		place = placeAt(2.1e6, 0, strip);
		for (let i = 0; i < 30_000; i++)
			place = placeAfter(place, Math.max(0, place.scroll - 100), strip);
		expect(place).toEqual({ scroll: 0, offset: 0 });
	});

	test('a long way of the scroll bar jumps in proportion', () => {
		const place = placeAfter({ scroll: 0, offset: 0 }, STRIP_MAX / 2, strip);
		expect((place.scroll + place.offset) / strip.rows).toBeCloseTo(0.5, 2);
	});

	test('one that is low enough is not scaled', () => {
		expect(placeAfter({ scroll: 5, offset: 0 }, 900, { rows: 1000, view: 100 })).toEqual({
			scroll: 900,
			offset: 0,
		});
	});
});

describe('columns', () => {
	const rows = [
		[1, 1, [1, 1, 'a'], 3, '0x0', 140, 1, 0, 1, 'a'],
		[2, 1, [1, 2, 'b'], 4, '0x0', 140, 2, 0, 2, 'b'],
	];

	test('those whose values differ are shown, and those in use', () => {
		const varying = new Set(varyingColumns(COLUMNS, rows));
		expect(usualColumns(COLUMNS, varying, [])).toEqual(['time', 'thread', 'which']);
		expect(usualColumns(COLUMNS, varying, ['ret'])).toEqual(['time', 'thread', 'which', 'ret']);
	});

	test('if no field differs, all fields are shown', () => {
		expect(usualColumns(COLUMNS, new Set(), [])).toEqual([
			'time',
			'thread',
			'__syscall_nr',
			'which',
			'ret',
		]);
	});

	test('values to draw: fields first, the number of the call last, no ids', () => {
		expect(numberColumns(COLUMNS).map((c) => c.name)).toEqual([
			'which',
			'ret',
			'__syscall_nr',
			'weight',
		]);
	});

	test('weights of flame graphs: whole numbers, of tables with stacks', () => {
		const ratio = column('ratio', { type: 'float', number: true });
		const weights = weightColumns([...COLUMNS, ratio]).map((c) => c.name);
		expect(weights).toEqual(['which', 'ret', '__syscall_nr', 'weight']);
		expect(weightColumns(COLUMNS.filter((c) => c.type !== 'stack'))).toEqual([]);
		expect(usualWeight(COLUMNS)?.name).toBe('which');
		expect(usualWeight([column('discount'), column('fd'), ...COLUMNS])?.name).toBe('discount');
		expect(usualWeight([column('fd'), column('bytes_req'), ...COLUMNS])?.name).toBe('bytes_req');
		expect(usualWeight(COLUMNS.filter((c) => c.type !== 'stack'))).toBeNull();
	});

	test('names of the address that the table has not are left out', () => {
		expect(parseNames('which,nothing', COLUMNS)).toEqual(['which']);
		expect(parseNames('nothing', COLUMNS)).toBeNull();
	});

	test('a tracepoint is known by its type, whatever its name is', () => {
		const event = (type: number, sampled: boolean) => ({ name: 'mine', type, sampled });
		expect(samplesTracepoints([event(2, true)])).toBe(true);
		expect(samplesTracepoints([event(1, true), event(2, false)])).toBe(false);
		expect(samplesTracepoints(null)).toBe(false);
	});

	test('values as text', () => {
		expect(cellText(named('time'), 1_234_567_890)).toBe('1.234568 s');
		expect(cellText(named('thread'), [7, 8, 'cat'])).toBe('cat 8');
		expect(cellText(named('which'), 1234567)).toBe('1234567');
		expect(statisticText(named('ret'), 1234567)).toBe('1,234,567');
		expect(statisticText(column('took', { unit: 'ns' }), 1500)).toBe('1.5 µs');
	});

	test('tables of other views are left out', () => {
		const table = (name: string, count: number) => ({
			name,
			meaning: '',
			shape: 'point' as const,
			sampled: true,
			rows: count,
			first_ns: 0,
			last_ns: 0,
			columns: COLUMNS,
		});
		const tables = eventTables([table('samples', 9), table('a:b', 1), table('c:d', 2)]);
		expect(tables.map((t) => t.name)).toEqual(['c:d', 'a:b']);
		expect(chosenTable(tables, 'a:b')!.name).toBe('a:b');
		expect(chosenTable(tables, 'gone')!.name).toBe('c:d');
		expect(chosenTable([], null)).toBeNull();
	});
});

describe('groups', () => {
	const group = (which: number, comm: string, count: number) => ({ keys: [which, comm], count });

	test('at most two columns, each once', () => {
		expect(parseBy('which,which,comm,ret', COLUMNS)).toEqual(['which', 'comm']);
	});

	test('in the order of a key or a statistic', () => {
		const groups = [group(2, 'a', 5), group(1, 'b', 7)];
		const counts = (key: string, down: boolean) =>
			sortGroups(groups, key, down, [true, false]).map((g) => g.count);
		expect(counts('key0', false)).toEqual([7, 5]);
		expect(counts('key1', true)).toEqual([7, 5]);
		expect(counts('count', true)).toEqual([7, 5]);
	});

	test('integers that are texts are in the order of numbers', () => {
		const keys = ['18446744073709551615', '18446744073709551614', '-9223372036854775808', 5];
		const groups = keys.map((key, i) => ({ keys: [key], count: i, sum: key as number }));
		for (const key of ['key0', 'sum'])
			expect(sortGroups(groups, key, false, [true]).map((g) => g.count)).toEqual([2, 3, 1, 0]);
	});

	test('what is left out is told', () => {
		const groups = [{ keys: ['a'], count: 5, p50: 1 }];
		const all = { matched: 5, groups_in_all: 1, rows_left_out: 0, percentile_error: 0.01, groups };
		expect(groupNotes(all)).toEqual([]);
		expect(groupNotes({ ...all, groups_in_all: 3, rows_left_out: 2 })).toHaveLength(2);
		expect(groupNotes({ ...all, groups: [{ keys: ['a'], count: 5, p50: null }] })).toEqual([
			'There are too many different values for percentiles. Narrow the selection to see them.',
		]);
	});

	test('the condition of a group has all its keys', () => {
		const where = whereOfGroup('ret < 0', group(2, 'cat', 5), ['which', 'comm'], COLUMNS);
		expect(where).toBe('ret < 0 && which == 2 && comm == "cat"');
	});
});

describe('integers of 64 bits', () => {
	test('that a number cannot hold are texts, all else is as it was', () => {
		const text = String.raw`{"rows":[[18446744073709551615,-9223372036854775808,9007199254740993],
			[9007199254740991,1.2345678901234567890,12345678901234567e3,0.1],
			["18446744073709551615","a \" 18446744073709551615 \\"]]}`;
		expect(parseExact(text)).toEqual({
			rows: [
				['18446744073709551615', '-9223372036854775808', '9007199254740993'],
				[9007199254740991, 1.2345678901234568, 12345678901234567e3, 0.1],
				['18446744073709551615', 'a " 18446744073709551615 \\'],
			],
		});
		expect(parseExact('[1,null,"x"]')).toEqual([1, null, 'x']);
	});
});

describe('the heat map of a column', () => {
	test('places of values', () => {
		for (const log of [false, true])
			for (const part of [0, 0.25, 0.5, 1])
				expect(
					partOf(valueAt(part, { min: 2, max: 900, log }), { min: 2, max: 900, log }),
				).toBeCloseTo(part);
		expect(partOf(0, { min: 0, max: 900, log: true })).toBe(0);
		expect(valueAt(0.7, { min: 3, max: 3, log: false })).toBe(3);
	});

	test('a drag in either direction selects both columns', () => {
		const heat = { from_ns: 100, to_ns: 200, pixels: 10 } as TableHeat;
		expect(windowOf(2, 4, heat)).toEqual({ from: 120, to: 150 });
		expect(windowOf(4, 2, heat)).toEqual({ from: 120, to: 150 });
	});
});

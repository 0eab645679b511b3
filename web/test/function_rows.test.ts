import { describe, expect, it } from 'vitest';
import type { Functions } from '../src/api/types';
import { arrange, functionLines, functionsTsv, searchFor } from '../src/logic/tables/function_rows';
import { rowFilter } from '../src/logic/tables/row_filter';
import { formatSort, parseSort } from '../src/logic/tables/table_sort';

/** "name self total" of a whole of 100, in module m. */
function functions(...lines: string[]): Functions {
	return {
		event: 'cpu-clock',
		unit: null,
		total: 100,
		samples: 100,
		next: null,
		functions: lines.map((text) => {
			const [name, self, total] = text.split(' ');
			const numbers = { self: Number(self), total: Number(total) };
			return {
				name: name!,
				module: 'm',
				kind: 'user',
				...numbers,
				self_samples: numbers.self,
				total_samples: numbers.total,
			};
		}),
	};
}
const all = rowFilter(null);

describe('functionLines', () => {
	it('gives shares', () => {
		const [f] = functionLines(functions('main 20 100'), null);
		expect(f).toMatchObject({ self: 0.2, total: 1, selfSamples: 20, selfChange: null });
	});
	it('counts a function once that came on two pages', () => {
		expect(functionLines(functions('a 1 1', 'b 1 1', 'a 2 2'), null)).toHaveLength(2);
	});
	it('tells what is more after', () => {
		const other = { functions: functions('a 50 60', 'gone 10 10'), before: true };
		const lines = functionLines(functions('a 70 60', 'new 5 5'), other);
		const change = Object.fromEntries(lines.map((f) => [f.name, f.selfChange]));
		expect(change.a).toBeCloseTo(0.2);
		expect(change.new).toBeCloseTo(0.05);
		expect(change.gone).toBeCloseTo(-0.1);
	});
	it('turns the sign when the other one is after', () => {
		const other = { functions: functions('a 50 60'), before: false };
		expect(functionLines(functions('a 70 60'), other)[0]!.selfChange).toBeCloseTo(-0.2);
	});
	it('is not disturbed by an empty selection', () => {
		const empty = { ...functions(), total: 0 };
		const lines = functionLines(empty, { functions: functions('a 50 60'), before: true });
		expect(lines[0]).toMatchObject({ self: 0, selfChange: -0.5 });
	});
});

describe('arrange', () => {
	const lines = functionLines(functions('Beta 1 9', 'alpha 3 3', 'gamma 2 5'), null);
	const names = (key: string, down: boolean, filter = all) =>
		arrange(lines, filter, { key, down }).map((f) => f.name);
	it('sorts by any column', () => {
		expect(names('self', true)).toEqual(['alpha', 'gamma', 'Beta']);
		expect(names('total', true)).toEqual(['Beta', 'gamma', 'alpha']);
		expect(names('name', false)).toEqual(['alpha', 'Beta', 'gamma']);
	});
	it('sorts changes by their size', () => {
		const changed = functionLines(functions('a 10 1', 'b 10 1', 'c 10 1'), {
			functions: functions('a 40 1', 'b 12 1', 'c 1 1'),
			before: true,
		});
		const sorted = arrange(changed, all, { key: 'selfChange', down: true });
		expect(sorted.map((f) => f.name)).toEqual(['a', 'c', 'b']);
	});
	it('keeps what matches', () => {
		expect(names('self', true, rowFilter('^.*a$'))).toEqual(['alpha', 'gamma', 'Beta']);
		expect(names('self', true, rowFilter('mm|lph'))).toEqual(['alpha', 'gamma']);
	});
});

describe('rowFilter', () => {
	it('heeds case only when there is a capital', () => {
		expect(rowFilter('beta').matches('Beta')).toBe(true);
		expect(rowFilter('BETA').matches('Beta')).toBe(false);
		expect(rowFilter('\\S').matches('beta')).toBe(true);
	});
	it('cuts a text for marking', () => {
		expect(rowFilter('a').pieces('banana')).toEqual(['b', 'a', 'n', 'a', 'n', 'a', '']);
		expect(rowFilter('x*').pieces('ab')).toEqual(['ab']);
	});
	it('explains what is wrong and hides nothing', () => {
		for (const [text, word] of [
			['foo(', '( and )'],
			['[a', '['],
			['*a', 'before them'],
			['a\\', '\\\\'],
			['a{2,1}', 'regular expression'],
		] as const) {
			const filter = rowFilter(text);
			expect(filter.problem).toContain(word);
			expect(filter.matches('anything')).toBe(true);
		}
	});
});

describe('functionsTsv', () => {
	it('cannot be broken by names', () => {
		const tsv = functionsTsv(functionLines(functions('a\tb\nc 1 2'), null), false);
		const [head, row, end] = tsv.split('\n');
		expect(row!.split('\t')).toHaveLength(head!.split('\t').length);
		expect(end).toBe('');
	});
});

describe('order in the address', () => {
	const usual = { key: 'self', down: true };
	it('comes back', () => {
		const sort = { key: 'name', down: false };
		expect(parseSort(formatSort(sort), ['name'], usual)).toEqual(sort);
	});
	it('ignores what the table has not', () => {
		expect(parseSort('other.up', ['name'], usual)).toBe(usual);
		expect(parseSort('name', ['name'], usual)).toBe(usual);
		expect(parseSort(null, ['name'], usual)).toBe(usual);
	});
});

describe('searchFor', () => {
	const lines = functionLines(
		functions('read 1 1', 'do_read 1 1', 'f(int*) 1 1', 'xf(int*) 1 1'),
		null,
	);
	it('is the name where that is enough', () => {
		expect(searchFor(lines[1]!, lines)).toBe('do_read');
	});
	it('is exact where other names contain it', () => {
		expect(searchFor(lines[0]!, lines)).toBe('/^read$/');
		const text = searchFor(lines[2]!, lines);
		expect(new RegExp(text.slice(1, -1)).test('f(int*)')).toBe(true);
		expect(new RegExp(text.slice(1, -1)).test('xf(int*)')).toBe(false);
	});
});

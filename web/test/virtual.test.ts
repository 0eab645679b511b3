import { describe, expect, it } from 'vitest';
import { rowOfKey, rowsOnScreen, scrollToShow } from '../src/logic/tables/virtual';

const rows = { count: 1000, height: 20 };

describe('rowsOnScreen', () => {
	it('has what is seen and a few more', () => {
		const { first, last } = rowsOnScreen(rows, { top: 1000, height: 200 });
		expect(first).toBeLessThan(50);
		expect(first).toBeGreaterThan(40);
		expect(last).toBeGreaterThanOrEqual(60);
		expect(last).toBeLessThan(70);
	});
	it('stays inside the list', () => {
		expect(rowsOnScreen(rows, { top: 0, height: 100 }).first).toBe(0);
		expect(rowsOnScreen(rows, { top: 19990, height: 100 }).last).toBe(1000);
		expect(rowsOnScreen({ count: 3, height: 20 }, { top: 5000, height: 100 })).toEqual({
			first: 3,
			last: 3,
		});
		expect(rowsOnScreen({ count: 0, height: 20 }, { top: 0, height: 100 })).toEqual({
			first: 0,
			last: 0,
		});
	});
});

describe('scrollToShow', () => {
	it('moves only as far as needed', () => {
		const scroll = { top: 200, height: 100 };
		expect(scrollToShow(12, rows, scroll)).toBe(200);
		expect(scrollToShow(5, rows, scroll)).toBe(100);
		expect(scrollToShow(20, rows, scroll)).toBe(320);
	});
});

describe('rowOfKey', () => {
	const scroll = { top: 0, height: 200 };
	it('moves and stops at the ends', () => {
		expect(rowOfKey('ArrowDown', -1, rows, scroll)).toBe(0);
		expect(rowOfKey('ArrowUp', -1, rows, scroll)).toBe(999);
		expect(rowOfKey('ArrowUp', 0, rows, scroll)).toBe(0);
		expect(rowOfKey('PageDown', 5, rows, scroll)).toBe(14);
		expect(rowOfKey('PageUp', 5, rows, scroll)).toBe(0);
		expect(rowOfKey('End', 5, rows, scroll)).toBe(999);
	});
	it('leaves other keys and empty lists alone', () => {
		expect(rowOfKey('a', 5, rows, scroll)).toBeNull();
		expect(rowOfKey('End', -1, { count: 0, height: 20 }, scroll)).toBeNull();
	});
});

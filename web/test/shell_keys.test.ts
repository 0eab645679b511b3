import { describe, expect, it } from 'vitest';
import type { SessionHead } from '../src/api/types';
import { groupShortcuts } from '../src/logic/key_groups';
import { keyCaps, pressed, type KeyPress } from '../src/logic/keys';
import { filterChoices, fits, type Choice } from '../src/logic/palette';
import { sortSessions } from '../src/logic/run/session_sort';

function press(key: string, more: Partial<KeyPress> = {}): KeyPress {
	return { key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...more };
}

describe('keys', () => {
	it('are plain unless said otherwise', () => {
		expect(pressed('f', press('f'))).toBe(true);
		expect(pressed('f', press('f', { ctrlKey: true }))).toBe(false);
		expect(pressed('f', press('F', { shiftKey: true }))).toBe(false);
		expect(pressed('f', press('g'))).toBe(false);
	});
	it('have Ctrl or ⌘ as Mod', () => {
		expect(pressed('Mod+k', press('k', { ctrlKey: true }))).toBe(true);
		expect(pressed('Mod+k', press('k', { metaKey: true }))).toBe(true);
		expect(pressed('Mod+k', press('k'))).toBe(false);
	});
	it('that are signs are typed with Shift or without, as the keyboard has it', () => {
		expect(pressed('?', press('?', { shiftKey: true }))).toBe(true);
		expect(pressed('?', press('?'))).toBe(true);
		expect(pressed('+', press('+', { shiftKey: true }))).toBe(true);
		expect(pressed('Mod++', press('+', { ctrlKey: true }))).toBe(true);
	});
	it('can be named', () => {
		expect(pressed('Shift+ArrowLeft', press('ArrowLeft', { shiftKey: true }))).toBe(true);
		expect(pressed('Shift+ArrowLeft', press('ArrowLeft'))).toBe(false);
		expect(pressed('ArrowLeft', press('ArrowLeft', { shiftKey: true }))).toBe(false);
		expect(pressed('Alt+ArrowUp', press('ArrowUp', { altKey: true }))).toBe(true);
	});
	it('are shown as the keyboard has them', () => {
		expect(keyCaps('Mod+k', false)).toEqual(['Ctrl', 'K']);
		expect(keyCaps('Mod+k', true)).toEqual(['⌘', 'K']);
		expect(keyCaps('Shift+ArrowLeft', false)).toEqual(['Shift', '←']);
		expect(keyCaps('+', false)).toEqual(['+']);
	});
	it('are grouped by where they hold, each once', () => {
		const list = [
			{ keys: 'f', what: 'Search', where: 'Flame graph' },
			{ keys: 'r', what: 'Again', where: 'Run' },
			{ keys: '?', what: 'Help', where: 'Everywhere' },
			{ keys: 'f', what: 'Search', where: 'Flame graph' },
		];
		expect(groupShortcuts(list).map(([where, all]) => [where, all.length])).toEqual([
			['Everywhere', 1],
			['Run', 1],
			['Flame graph', 1],
		]);
	});
});

describe('the palette', () => {
	const choice = (text: string, more?: string): Choice => ({
		id: text,
		group: 'Commands',
		text,
		more,
		run: () => {},
	});
	it('wants every word, in any order', () => {
		expect(fits('Show the flame graph', 'graph fl')).toBeGreaterThan(0);
		expect(fits('Show the flame graph', 'graph x')).toBe(0);
		expect(fits('anything', '')).toBeGreaterThan(0);
	});
	it('prefers beginnings', () => {
		const list = [choice('Import a file'), choice('Show the time'), choice('New run', 'time')];
		expect(filterChoices([choice('Runtime'), ...list], 'time').map((c) => c.text)).toEqual([
			'Show the time',
			'New run',
			'Runtime',
		]);
		expect(filterChoices(list, 'im')[0]!.text).toBe('Import a file');
	});
});

it('sessions are sorted by age, name or number of runs', () => {
	const head = (title: string, created_at: string, runs: number): SessionHead => ({
		uuid: title,
		title,
		created_at,
		runs,
	});
	const list = [
		head('run 10', '2026-01-01', 1),
		head('Run 9', '2026-01-03', 1),
		head('apple', '2026-01-02', 5),
	];
	const titles = (sort: 'newest' | 'name' | 'runs') => sortSessions(list, sort).map((s) => s.title);
	expect(titles('newest')).toEqual(['Run 9', 'apple', 'run 10']);
	expect(titles('name')).toEqual(['apple', 'Run 9', 'run 10']);
	expect(titles('runs')).toEqual(['apple', 'Run 9', 'run 10']);
	expect(list[0]!.title).toBe('run 10');
});

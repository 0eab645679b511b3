import { expect, test } from 'vitest';
import type { EventInfo } from '../src/api/types';
import { aboutEvent, countGroups, isForm, markWords } from '../src/logic/run/event_groups';

const event = (part: Partial<EventInfo>): EventInfo => ({
	name: 'x',
	alias: null,
	description: null,
	group: 'sw',
	pmu: null,
	unit: null,
	available: true,
	reason: null,
	used: 0,
	masks: [],
	...part,
});

test('kinds are counted in their own order', () => {
	const groups = (['tracepoint', 'hw', 'tracepoint', 'sw'] as const).map((group) =>
		event({ group }),
	);
	expect(countGroups(groups)).toEqual([
		{ group: 'hw', count: 1 },
		{ group: 'sw', count: 1 },
		{ group: 'tracepoint', count: 2 },
	]);
});

test('an event in words', () => {
	expect(aboutEvent(event({ description: 'time', unit: 'msec' }))).toBe('time · in ms');
	expect(aboutEvent(event({ group: 'tracepoint', name: 'sched:sched_switch' }))).toContain(
		'(sched)',
	);
	const masks = [{ name: 'A', description: null }];
	expect(aboutEvent(event({ description: 'd', masks, available: false, reason: 'no PMU' }))).toBe(
		'Not here: no PMU · d · 1 variant',
	);
});

test('forms to fill in', () => {
	expect(isForm(event({ group: 'raw', name: 'rNNN' }))).toBe(true);
	expect(isForm(event({ available: null }))).toBe(true);
	expect(isForm(event({ available: false }))).toBe(false);
});

test('what was searched for is marked, whatever signs it has', () => {
	expect(markWords('L1-dcache-load-misses', 'MISS cache')).toEqual([
		{ text: 'L1-d', found: false },
		{ text: 'cache', found: true },
		{ text: '-load-', found: false },
		{ text: 'miss', found: true },
		{ text: 'es', found: false },
	]);
	expect(markWords('a.b', '.')).toEqual([
		{ text: 'a', found: false },
		{ text: '.', found: true },
		{ text: 'b', found: false },
	]);
	expect(markWords('abc', ' ')).toEqual([{ text: 'abc', found: false }]);
});

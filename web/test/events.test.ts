import { describe, expect, test } from 'vitest';
import {
	addEvent,
	formatEvents,
	groupsOf,
	modeOf,
	modifierWords,
	parseEvents,
	precisionOf,
	removeEvent,
	splitEvents,
	withMode,
	withPrecision,
} from '../src/logic/run/events';

test('commas in groups and terms do not split', () => {
	expect(splitEvents('a, {b,c}:u ,cpu/event=0x3c,umask=1/u,d')).toEqual([
		'a',
		'{b,c}:u',
		'cpu/event=0x3c,umask=1/u',
		'd',
	]);
	expect(splitEvents('')).toEqual([]);
	expect(splitEvents('mem:0x1000/8:rw,b')).toEqual(['mem:0x1000/8:rw', 'b']);
});

describe('events of a plan', () => {
	test.each<[string[], string[]]>([
		[
			['task-clock', 'page-faults:u'],
			['task-clock', 'page-faults:u'],
		],
		[['task-clock,page-faults'], ['task-clock', 'page-faults']],
		[
			['{a,b:k}', 'c'],
			['{a,b:k}', 'c'],
		],
		[['{a:u,b}:k'], ['{a:uk,b:k}']],
		[['{a,b}:S'], ['{a:S,b:S}']],
		[['sched:sched_switch'], ['sched:sched_switch']],
		[['sched:sched_switch:u'], ['sched:sched_switch:u']],
		[['cpu/event=0x3c,umask=1/upp'], ['cpu/event=0x3c,umask=1/upp']],
		[['RETIRED_X87_FP_OPS:MUL_OPS:u'], ['RETIRED_X87_FP_OPS:MUL_OPS:u']],
		[['mem:0x1000/8:rw'], ['mem:0x1000/8:rw']],
		[['{a,b}:nonsense'], ['{a,b}:nonsense']],
	])('%j → %j', (list, again) => expect(formatEvents(parseEvents(list))).toEqual(again));

	test('parts of one', () => {
		expect(parseEvents(['cycles:upp'])).toEqual([
			{ name: 'cycles', modifiers: 'upp', joined: false },
		]);
		expect(parseEvents(['cpu/cycles/k'])[0]).toMatchObject({ name: 'cpu/cycles/', modifiers: 'k' });
		expect(parseEvents(['sched:sched_switch'])[0]!.modifiers).toBe('');
	});
});

test('modifiers are changed one by one', () => {
	const [e] = parseEvents(['cycles:uppS']);
	expect([modeOf(e!), precisionOf(e!)]).toEqual(['user', 2]);
	expect(formatEvents([withMode(e!, 'kernel')])).toEqual(['cycles:kppS']);
	expect(formatEvents([withPrecision(withMode(e!, 'all'), 0)])).toEqual(['cycles:S']);
	expect(modeOf({ ...e!, modifiers: 'uk' })).toBe('all');
	expect(modifierWords(e!)).toBe('only the program itself, exact position, modifiers S');
});

test('the first of a group leaves the rest together, and not with the group before', () => {
	const events = parseEvents(['{a,b}', '{c,d,e}']);
	expect(groupsOf(events).map((g) => g.length)).toEqual([2, 3]);
	expect(formatEvents(removeEvent(events, 2))).toEqual(['{a,b}', '{d,e}']);
	expect(formatEvents(removeEvent(events, 1))).toEqual(['a', '{c,d,e}']);
	expect(formatEvents(removeEvent(events, 3))).toEqual(['{a,b}', '{c,e}']);
});

test('an event is chosen once', () => {
	expect(addEvent(parseEvents(['a:u']), 'a')).toHaveLength(1);
	expect(formatEvents(addEvent(parseEvents(['a']), 'b'))).toEqual(['a', 'b']);
});

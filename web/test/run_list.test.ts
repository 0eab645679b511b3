import { describe, expect, test } from 'vitest';
import type { Run, Timeline } from '../src/api/types';
import { matches, neighbour, tagsOf } from '../src/logic/run/run_list';
import { sparkCounter, sparkPath, sparkValues } from '../src/logic/timeline/spark';

const run = (part: Partial<Run>): Run =>
	({ uuid: 'u', argv: [], tags: [], note: null, state: 'done', ...part }) as Run;

describe('search', () => {
	const r = run({ description: 'Build', workload: 'make -j8', tags: ['old disk'], note: 'slow?' });
	test.each(['', 'build', 'MAKE old', 'slow', 'done'])('%j fits', (text) =>
		expect(matches(r, text)).toBe(true),
	);
	test.each(['gcc', 'build gcc', 'failed'])('%j does not', (text) =>
		expect(matches(r, text)).toBe(false),
	);
});

test('tags', () => {
	expect(tagsOf([run({ tags: ['x'] }), run({ tags: ['y', 'x'] })])).toEqual(['x', 'y']);
});

test('neighbours', () => {
	const list = ['a', 'b', 'c'].map((uuid) => run({ uuid }));
	expect(neighbour(list, 'a', 1)!.uuid).toBe('b');
	expect(neighbour(list, 'a', -1)!.uuid).toBe('a');
	expect(neighbour(list, 'c', 1)!.uuid).toBe('c');
	expect(neighbour(list, null, 1)!.uuid).toBe('a');
	expect(neighbour([], 'a', 1)).toBeNull();
});

describe('spark', () => {
	const line = (name: string, mean: (number | null)[]) => ({ name, mean });
	const timeline = (counters: object[], rates: (number | null)[][]) =>
		({ counters, samples: rates.map((rate) => ({ event: 'e', rate })) }) as unknown as Timeline;

	test('which counter', () => {
		const opened = [
			{ name: 'cpu-clock', sampled: true, counted: false },
			{ name: 'cycles', counted: true, supported: false },
			{ name: 'task-clock', counted: true, supported: true },
		];
		expect(sparkCounter(run({ opened_events: opened }))).toBe('task-clock');
		expect(sparkCounter(run({ opened_events: null }))).toBeNull();
	});

	test('CPUs are added up, samples stand in', () => {
		const t = timeline(
			[line('a', [1, null, 3]), line('a', [1, null, NaN]), line('b', [9])],
			[[7, 8]],
		);
		expect(sparkValues(t, 'a')).toEqual([2, null, 3]);
		expect(sparkValues(t, null)).toEqual([7, 8]);
		expect(sparkValues(timeline([line('a', [null])], []), 'a')).toEqual([]);
	});

	test('a path with gaps', () => {
		expect(sparkPath([0, 10, null, 5, 10], 42, 12)).toBe('M1.0 11.0L11.0 1.0M31.0 6.0L41.0 1.0');
		expect(sparkPath([0, 0], 12, 12)).toBe('M1.0 11.0L11.0 11.0');
		expect(sparkPath([4], 10, 10)).toBe('');
		expect(sparkPath([null, null], 10, 10)).toBe('');
	});
});

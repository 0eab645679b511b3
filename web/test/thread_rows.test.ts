import { describe, expect, it } from 'vitest';
import type { ThreadLine } from '../src/api/types';
import { choose, isChosen, threadRows } from '../src/logic/tables/thread_rows';

/** "pid/tid name samples", active in the cell of its samples' last digit. */
function lines(...texts: string[]): ThreadLine[] {
	return texts.map((text) => {
		const [id, comm, samples] = text.split(' ');
		const [pid, tid] = id!.split('/').map(Number);
		return {
			pid: pid!,
			tid: tid!,
			comm: comm!,
			first_ns: tid! * 10,
			last_ns: tid! * 10 + 5,
			samples: Number(samples),
			weight: Number(samples) * 100,
			cells: [Number(samples), 1],
		};
	});
}
const usual = { key: 'samples', down: true };
const all = lines('1/1 main 10', '1/2 worker 30', '5/5 other 60');

describe('threadRows', () => {
	it('puts threads below their process, the heaviest first', () => {
		const rows = threadRows(all, all, usual);
		expect(rows.map((r) => [r.kind, r.tid])).toEqual([
			['process', 5],
			['process', 1],
			['thread', 2],
			['thread', 1],
		]);
		expect(rows[1]).toMatchObject({ name: 'main', threads: 2, samples: 40 });
		expect(rows[1]!.share).toBeCloseTo(0.4);
		expect(Array.from(rows[1]!.cells)).toEqual([40, 2]);
	});
	it('takes numbers from the selection and keeps who is idle in it', () => {
		const rows = threadRows(all, lines('1/2 worker 7'), usual);
		expect(rows.find((r) => r.tid === 2)).toMatchObject({ samples: 7, share: 1 });
		expect(rows.find((r) => r.tid === 5)).toMatchObject({ samples: 0, share: 0 });
	});
	it('has also who is outside of what the strips span', () => {
		const rows = threadRows(lines('1/1 main 10'), lines('9/9 late 3'), usual);
		expect(rows[0]).toMatchObject({ tid: 9, samples: 3 });
		expect(rows[0]!.cells).toHaveLength(0);
	});
	it('counts a thread once that took other names', () => {
		const same = lines('1/1 sh 5', '1/1 env 1', '1/1 python 30', '1/2 python 4');
		const rows = threadRows(same, same, usual);
		expect(rows.map((r) => r.tid)).toEqual([1, 1, 2]);
		expect(rows[1]).toMatchObject({ name: 'python', names: ['sh', 'env', 'python'], samples: 36 });
		expect(rows[0]!.share).toBeCloseTo(1);
		expect(Array.from(rows[1]!.cells)).toEqual([36, 3]);
	});
	it('sorts by name and number', () => {
		const ids = (key: string) =>
			threadRows(all, all, { key, down: false })
				.filter((r) => r.kind === 'process')
				.map((r) => r.pid);
		expect(ids('name')).toEqual([1, 5]);
		expect(ids('id')).toEqual([1, 5]);
		expect(ids('samples')).toEqual([1, 5]);
	});
});

describe('choose', () => {
	const rows = threadRows(all, all, usual);
	const row = (kind: string, tid: number) => rows.find((r) => r.kind === kind && r.tid === tid)!;
	const none = { threads: null, pids: null };
	it('takes one, adds with Ctrl, and takes away what is chosen', () => {
		expect(choose(row('thread', 2), none, false)).toEqual({ threads: '2', pids: null });
		const two = choose(row('thread', 1), { threads: '2', pids: null }, true);
		expect(two).toEqual({ threads: '2,1', pids: null });
		expect(isChosen(row('thread', 1), two)).toBe(true);
		expect(choose(row('thread', 2), two, true)).toEqual({ threads: '1', pids: null });
		expect(choose(row('thread', 2), { threads: '2', pids: null }, false)).toEqual(none);
	});
	it('never mixes threads and processes', () => {
		expect(choose(row('process', 5), { threads: '2', pids: null }, true)).toEqual({
			threads: null,
			pids: '5',
		});
	});
});

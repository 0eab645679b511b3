import { expect, test } from 'vitest';
import type { ProcessInfo } from '../src/api/types';
import { orderProcesses } from '../src/logic/run/process_order';

const process = (pid: number, command: string, cpu_s: number) =>
	({ pid, command, cpu_s }) as ProcessInfo;

const LIST = [
	process(9, '[kworker/0:1]', 50),
	process(8, 'cc1 -O2', 2),
	process(7, '[rcu_preempt]', 90),
	process(6, 'postgres', 30),
];

test('kernel threads come last, whatever they used', () => {
	expect(orderProcesses(LIST, 'cpu').map((p) => p.pid)).toEqual([6, 8, 7, 9]);
	expect(orderProcesses(LIST, 'new').map((p) => p.pid)).toEqual([8, 6, 9, 7]);
});

test('the list itself is left alone', () => {
	orderProcesses(LIST, 'cpu');
	expect(LIST.map((p) => p.pid)).toEqual([9, 8, 7, 6]);
});

import { describe, expect, it } from 'vitest';
import type { Ledger, Run } from '../src/api/types';
import { ledgerEntries, overhead, verdict } from '../src/logic/run/ledger_words';
import {
	eventRate,
	eventUse,
	exitWords,
	machineFacts,
	whatRan,
	whenItRan,
} from '../src/logic/run/run_facts';

const run = (more: Partial<Run>) =>
	({
		state: 'done',
		argv: [],
		exit_status: null,
		signal: null,
		timed_out: false,
		error: null,
		duration_s: null,
		...more,
	}) as Run;
const value = (list: { name: string; value: string }[], name: string) =>
	list.find((f) => f.name === name)?.value;

describe('exitWords', () => {
	it('names signals and statuses', () => {
		expect(exitWords(run({ exit_status: 0 }))).toBe('Status 0: all went well');
		expect(exitWords(run({ exit_status: 127 }))).toContain('not found');
		expect(exitWords(run({ exit_status: 3 }))).toContain('Status 3');
		expect(exitWords(run({ signal: 11 }))).toContain('SIGSEGV');
		expect(exitWords(run({ signal: 40 }))).toBe('Ended by signal 40');
		expect(exitWords(run({}))).toBeNull();
	});
});

describe('whatRan', () => {
	it('leaves out what was not said', () => {
		const names = whatRan(run({ import: 'a.data' })).map((f) => f.name);
		expect(names).toContain('Imported file');
		expect(names).not.toContain('Command');
		expect(names).not.toContain('Directory');
		expect(names).not.toContain('Ended after');
	});
	it('writes words so that a shell would read them back', () => {
		const list = whatRan(run({ argv: ['sh', '-c', 'echo a b'], timeout: 0 }));
		expect(value(list, 'Executed')).toBe("sh -c 'echo a b'");
	});
	it('does not say the same twice', () => {
		const same = run({ argv: ['ls', '-l', 'a b'], workload: "ls -l 'a b'" });
		expect(value(whatRan(same), 'Command')).toBe("ls -l 'a b'");
		expect(value(whatRan(same), 'Executed')).toBeUndefined();
		const shell = run({ argv: ['/bin/sh', '-c', 'ls'], workload: 'ls' });
		expect(value(whatRan(shell), 'Executed')).toBe('/bin/sh -c ls');
	});
	it('takes the environment as pairs and as an object', () => {
		const pairs = [['A', '1 2']] as unknown as Record<string, string>;
		expect(value(whatRan(run({ env: pairs })), 'Environment')).toBe("A='1 2'");
		expect(value(whatRan(run({ env: { B: 'x' } })), 'Environment')).toBe('B=x');
	});
	it('says how it sampled', () => {
		const sample = { frequency: 999, callgraph: 'fp' };
		expect(value(whatRan(run({ tool: 'record', sample })), 'Samples')).toBe(
			'999 times a second, stacks by frame pointers',
		);
		expect(value(whatRan(run({ tool: 'stat', sample })), 'Samples')).toBeUndefined();
	});
});

describe('whenItRan', () => {
	it('works for a run that waits', () => {
		const list = whenItRan(run({ state: 'queued', created_at: 'T' }), (at) => 'at ' + at);
		expect(value(list, 'State')).toBe('waiting');
		expect(value(list, 'Queued')).toBe('at T');
		expect(value(list, 'Started')).toBeUndefined();
		expect(value(list, 'Took')).toBeUndefined();
	});
});

describe('machineFacts', () => {
	it('knows units, and shows what it does not know', () => {
		const list = machineFacts({ new_thing: [1], governor: null, memory_bytes: 2e9, kernel: '6.1' });
		expect(list.map((f) => f.name)).toEqual([
			'Kernel',
			'Memory',
			'Frequency governor',
			'new thing',
		]);
		expect(value(list, 'Memory')).toBe('2 GB');
		expect(value(list, 'Frequency governor')).toBe('unknown');
		expect(value(list, 'new thing')).toBe('[1]');
		expect(machineFacts(null)).toEqual([]);
	});
});

describe('events as opened', () => {
	it('are in words', () => {
		expect(eventUse({ name: 'a', counted: true, sampled: true })).toBe('counted and sampled');
		expect(eventRate({ name: 'a', sampled: true, frequency: 999 })).toBe('999 a second');
		expect(eventRate({ name: 'a', sampled: true, frequency: 0, period: 10000 })).toBe(
			'every 10,000',
		);
		expect(eventRate({ name: 'a', counted: true })).toBe('–');
	});
});

describe('ledger', () => {
	const clean: Ledger = { samples: 1000, lost: 0, intervals: 10, intervals_missed: 0, overlap: [] };
	it('says when nothing was lost', () => {
		expect(verdict(clean)).toEqual({ good: true, text: 'Nothing was lost.', advice: null });
		expect(ledgerEntries(clean).some((e) => e.bad)).toBe(false);
		expect(verdict(null)).toBeNull();
	});
	it('says what was lost and what to do', () => {
		const v = verdict({ ...clean, lost: 3, throttled: 2 })!;
		expect(v.text).toBe('0.30 % of the samples were lost. The kernel held sampling back 2 times.');
		expect(v.advice).toBe('Take fewer samples a second, or fewer events.');
		expect(verdict({ ...clean, intervals_missed: 10 })!.text).toContain('50.0 %');
		expect(verdict({ ...clean, overlap: [{ run: 'x' }] })!.text).toContain('1 other run was');
	});
	it('says what could not be measured', () => {
		const opened = [{ name: 'cycles', problem: 'not supported' }, { name: 'task-clock' }];
		expect(verdict(clean, opened)).toMatchObject({
			good: false,
			text: 'cycles could not be measured.',
		});
	});
	it('has no rows about what was not done', () => {
		const names = (l: Ledger) => ledgerEntries(l).map((e) => e.name);
		expect(names({ intervals: 3 })).not.toContain('Lost by the kernel');
		expect(names({ samples: 3 })).not.toContain('Readings missed');
		expect(names({ samples: 3, output_dropped_bytes: 1 })).toContain('Output not kept');
	});
	it('tells what measuring has cost', () => {
		expect(overhead({ collector_cpu_ns: 50e6 }, 5)).toBe('50 ms of CPU time, 1.00 % of one CPU');
		expect(overhead({ collector_cpu_ns: 50e6 }, null)).toBe('50 ms of CPU time');
		expect(overhead({}, 5)).toBeNull();
	});
});

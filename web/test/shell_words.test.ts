import { describe, expect, it } from 'vitest';
import type { Ledger, Run } from '../src/api/types';
import { HOME } from '../src/logic/address';
import { nextPause } from '../src/logic/live/backoff';
import { filtersOf } from '../src/logic/filters';
import { clockTime, formatAgo, plural } from '../src/logic/format';
import { lastLines } from '../src/logic/live/last_lines';
import { pageTitle } from '../src/logic/page_title';
import { queueWords, remaining } from '../src/logic/run/queue_words';
import { outcomeOf, runName, runTrouble } from '../src/logic/run/run_words';
import { warningsOf } from '../src/logic/run/warnings';

function run(more: Partial<Run>): Run {
	return { state: 'done', argv: [], exit_status: 0, signal: null, ...more } as Run;
}

describe('a run in words', () => {
	it('is called what its owner wrote, else what it does', () => {
		expect(runName(run({ description: 'before', argv: ['gcc'] }))).toBe('before');
		expect(runName(run({ import: 'perf.data' }))).toBe('perf.data');
		expect(runName(run({ argv: ['/usr/bin/gcc', '-c', 'a b.c'] }))).toBe("gcc -c 'a b.c'");
		expect(runName(run({ shell: true, workload: 'a | b', argv: ['sh', '-c', 'a | b'] }))).toBe(
			'a | b',
		);
		expect(runName(run({ pids: [7] }))).toBe('process 7');
		expect(runName(run({ pids: [7, 8] }))).toBe('processes 7, 8');
		expect(runName(run({ tids: [9] }))).toBe('thread 9');
		expect(runName(run({ system_wide: true }))).toBe('the whole system');
	});
	it('has failed if its program says so', () => {
		expect(outcomeOf(run({}))).toBe('done');
		expect(outcomeOf(run({ exit_status: 2 }))).toBe('failed');
		expect(outcomeOf(run({ exit_status: null, signal: 11 }))).toBe('failed');
		expect(outcomeOf(run({ state: 'running', exit_status: null }))).toBe('running');
	});
	it('says why it did not end well', () => {
		expect(runTrouble(run({}))).toBeNull();
		expect(runTrouble(run({ state: 'running', error: 'early' }))).toBeNull();
		expect(runTrouble(run({ error: 'There is no such file.' }))).toBe('There is no such file.');
		expect(runTrouble(run({ exit_status: 3 }))).toMatch(/status 3/);
		expect(runTrouble(run({ signal: 11 }))).toMatch(/signal 11 \(a wrong memory access\)/);
		expect(runTrouble(run({ signal: 63 }))).toBe('The program was ended by signal 63.');
		expect(runTrouble(run({ timed_out: true, timeout: 5, signal: 9 }))).toMatch(/5 s/);
		expect(runTrouble(run({ state: 'cancelled', signal: 15 }))).toBeNull();
	});
	it('is in the title of the page', () => {
		const at = Date.parse('2026-01-01T00:00:12Z');
		const started_at = '2026-01-01T00:00:00Z';
		expect(pageTitle(run({ state: 'running', argv: ['gcc'], started_at }), null, at)).toBe(
			'● 12 s gcc – tacho',
		);
		expect(pageTitle(run({ argv: ['gcc'] }), null, at)).toBe('✓ gcc – tacho');
		expect(pageTitle(null, 'compilers', at)).toBe('compilers – tacho');
		expect(pageTitle(null, null, at)).toBe('tacho');
	});
});

describe('times', () => {
	const now = new Date(2026, 10, 15, 12, 0, 0);
	const before = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString();
	it('are told by how long ago they were', () => {
		expect(formatAgo(before(5), now)).toBe('just now');
		expect(formatAgo(before(50), now)).toBe('1 min ago');
		expect(formatAgo(before(1800), now)).toBe('30 min ago');
		expect(formatAgo(before(3 * 3600), now)).toBe('3 h ago');
		expect(formatAgo(before(13 * 3600), now)).toBe('yesterday');
		expect(formatAgo(before(3 * 86400), now)).toBe('12 Nov');
		expect(formatAgo(before(400 * 86400), now)).toBe('11 Oct 2025');
		expect(formatAgo('nonsense', now)).toBe('');
	});
	it('have the day only when it is another', () => {
		expect(clockTime(before(3600), now)).toBe('11:00');
		expect(clockTime(before(86400), now)).toBe('14 Nov, 12:00');
		// Midnight is nothing special.
		const early = new Date(now.getTime() - 11.5 * 3600e3);
		expect(clockTime(new Date(early.getTime() - 3600e3).toISOString(), early)).toBe('23:30');
	});
	it('between two tries grow to a limit', () => {
		expect([0, 1, 2, 9, 1000].map(nextPause)).toEqual([1000, 2000, 4000, 15000, 15000]);
	});
});

it('things are counted', () => {
	expect(plural(0, 'run')).toBe('0 runs');
	expect(plural(1, 'run')).toBe('1 run');
	expect(plural(1200, 'run')).toBe('1,200 runs');
	expect(plural(2, 'entry', 'entries')).toBe('2 entries');
});

describe('the queue', () => {
	const progress = {
		elapsed_s: 4,
		expected_s: 10,
		eta_s: 6,
		starts_in_s: null,
		place: 0,
		done_part: 0,
	};
	it('is told in words', () => {
		expect(queueWords(1, 2)).toBe('1 running, 2 waiting');
		expect(queueWords(0, 2)).toBe('2 waiting');
		expect(queueWords(0, 0)).toBe('idle');
	});
	it('goes on between two answers', () => {
		expect(remaining(progress, 1)).toEqual({ elapsed: 5, left: 5, part: 0.5 });
	});
	it('never claims to be done before it is', () => {
		const late = remaining(progress, 60);
		expect(late.part).toBe(0.98);
		expect(late.left).toBeNull();
	});
	it('knows how much of a file was read', () => {
		expect(remaining({ ...progress, eta_s: null, done_part: 0.25 }, 0).part).toBe(0.25);
	});
	it('does not guess', () => {
		expect(remaining({ ...progress, eta_s: null }, 0).part).toBeNull();
		expect(remaining(null, 3)).toEqual({ elapsed: 0, left: null, part: null });
	});
});

describe('warnings', () => {
	const words = (ledger: Ledger | null) => warningsOf(ledger).map((w) => w.words);
	it('are silent about good data', () => {
		expect(words(null)).toEqual([]);
		expect(words({ samples: 100, lost: 0, throttled: 0, overlap: [] })).toEqual([]);
		expect(words({ multiplexed: [{ event: 'cycles', running_ppm: 1000000 }] })).toEqual([]);
	});
	it('say how much is missing', () => {
		expect(words({ samples: 75, lost: 20, dropped: 5 })).toEqual(['25.0 % of samples lost']);
		expect(words({ throttled: 1 })).toEqual(['slowed down 1 time']);
		expect(words({ intervals_missed: 2 })).toEqual(['2 readings missed']);
		expect(words({ multiplexed: [{ event: 'cycles', running_ppm: 500000 }] })).toEqual([
			'1 counter estimated',
		]);
		expect(words({ overlap: [{ run: 'x' }] })).toEqual(['ran beside another']);
	});
});

describe('filters', () => {
	it('are what narrows the selection besides its windows', () => {
		expect(filtersOf(HOME)).toEqual([]);
		const address = { ...HOME, window: { from: 1, to: 2 }, threads: '7', frames: 'main' };
		const found = filtersOf(address);
		expect(found.map((f) => f.key)).toEqual(['threads', 'frames']);
		expect(filtersOf({ ...address, ...found[0]!.clear }).map((f) => f.key)).toEqual(['frames']);
	});
});

describe('last words of a program', () => {
	it('are its last lines without colours', () => {
		const text = 'one\n\n\u001b[31mtwo\u001b[0m  \r\nthree\n\n';
		expect(lastLines(text, 2)).toEqual(['two', 'three']);
		expect(lastLines('', 2)).toEqual([]);
		expect(lastLines('50 %\r100 %\r', 1)).toEqual(['100 %']);
		expect(lastLines('x'.repeat(1000), 1)[0]).toHaveLength(301);
	});
});

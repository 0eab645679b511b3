import { describe, expect, it } from 'vitest';
import type { SamplesMessage } from '../src/api/live_protocol';
import { OutputTail } from '../src/logic/live/live_output';
import {
	RunAccumulator,
	updateOfCounts,
	updateOfLedger,
	updateOfOutput,
	updateOfSamples,
} from '../src/logic/live/live_run';

const MS = 1e6;

function samples(more: Partial<SamplesMessage>): SamplesMessage {
	return { run: 'r', names: [], nodes: [], gain: [], events: [], event: 0, to_ns: 0, ...more };
}

/** main → parse → lex, main → emit */
const FIRST = samples({
	names: [
		['main', 'prog', 'user'],
		['parse', 'prog', 'user'],
		['lex', 'prog', 'user'],
		['emit', 'prog', 'user'],
	],
	nodes: [
		[0, 1, 0],
		[1, 2, 0],
		[2, 3, 1],
		[1, 4, 0],
	],
	events: ['cpu-clock'],
	gain: [
		[0, 3, 2, 200],
		[0, 4, 1, 100],
	],
	to_ns: 50 * MS,
});

describe('the call tree of a run that goes on', () => {
	it('has totals without walking all of it', () => {
		const run = new RunAccumulator('r');
		run.apply(updateOfSamples(FIRST));
		const tree = run.tree.tree('cpu-clock');
		expect([...(tree.nodes.self as Float64Array)]).toEqual([0, 0, 0, 200, 100]);
		expect([...(tree.nodes.total as Float64Array)]).toEqual([300, 300, 200, 200, 100]);
		expect([...(tree.nodes.inlined as Uint32Array)]).toEqual([0, 0, 0, 1, 0]);
		expect(tree.total).toBe(300);
		expect(run.tree.names[3]).toEqual(['lex', 'prog', 'user']);
		expect(run.tree.names[0]![0]).toBe('all');
	});

	it('grows by nodes and by gain', () => {
		const run = new RunAccumulator('r');
		run.apply(updateOfSamples(FIRST));
		run.apply(
			updateOfSamples(samples({ nodes: [[3, 4, 0]], gain: [[0, 5, 1, 7]], to_ns: 100 * MS })),
		);
		const { nodes, total } = run.tree.tree('cpu-clock');
		expect(nodes.total[3]).toBe(207);
		expect(total).toBe(307);
		expect(nodes.parent.length).toBe(6);
	});

	it('has thousands of nodes, and events apart from each other', () => {
		const run = new RunAccumulator('r');
		const nodes = Array.from({ length: 5000 }, (_, i) => [i, 1, 0] as [number, number, number]);
		run.apply(
			updateOfSamples(
				samples({
					nodes,
					events: ['a', 'b'],
					gain: [
						[0, 5000, 1, 2],
						[1, 2500, 1, 3],
					],
					to_ns: 1,
				}),
			),
		);
		expect(run.tree.tree('a').nodes.total[2501]).toBe(2);
		expect(run.tree.tree('b').nodes.total[2501]).toBe(0);
		expect(run.tree.tree('b').nodes.total[1]).toBe(3);
		expect(run.tree.tree('unknown').total).toBe(0);
	});

	it('does not trust numbers', () => {
		const run = new RunAccumulator('r');
		run.apply(
			updateOfSamples(
				samples({
					nodes: [[900, 1, 0]],
					events: ['a'],
					gain: [
						[0, 77, 1, 5],
						[9, 0, 1, 5],
						[0, 1, 1, 5],
					],
					to_ns: 1,
				}),
			),
		);
		expect(run.tree.tree('a').total).toBe(5);
		expect(run.tree.tree('a').nodes.parent[1]).toBe(0);
	});

	it('shows the event that the server has chosen, until it chooses another', () => {
		const run = new RunAccumulator('r');
		expect(run.shownEvent).toBeNull();
		run.apply(updateOfSamples(samples({ events: ['a', 'b'], event: 1 })));
		run.apply(updateOfOutput({ run: 'r', stream: 1, text: 'hello' }));
		expect(run.shownEvent).toBe('b');
		expect(RunAccumulator.restored(structuredClone(run.save())).shownEvent).toBe('b');
		run.apply(updateOfSamples(samples({ gain: [[1, 0, 500, 500]], event: 0 })));
		expect(run.shownEvent).toBe('a');
	});

	it('makes rates out of what was gained since the last samples', () => {
		const run = new RunAccumulator('r');
		run.apply(updateOfSamples(FIRST));
		run.apply(updateOfSamples(samples({ gain: [[0, 1, 20, 20]], to_ns: 100 * MS })));
		const { mean } = run.rates[0]!.line(0, 100 * MS, 2);
		expect([...mean].map(Math.round)).toEqual([60, 400]);
	});
});

describe('all of a run', () => {
	const counts = updateOfCounts({
		run: 'r',
		counters: [
			{ id: 1, name: 'task-clock', unit: '', scale: 1e-6, cpu: null },
			{ id: 2, name: 'page-faults', unit: 'faults', scale: 1, cpu: 3 },
		],
		t: [10 * MS, 10 * MS, 20 * MS],
		id: [1, 2, 1],
		value: [5, 6, 7],
		duration: [10 * MS, 10 * MS, 10 * MS],
		ppm: [1e6, 1e6, 5e5],
	});

	it('knows its counters', () => {
		const run = new RunAccumulator('r');
		run.apply(counts);
		expect(run.counters.map((c) => [c.info.name, c.info.unit, c.info.cpu])).toEqual([
			['task-clock', null, null],
			['page-faults', 'faults', 3],
		]);
		expect([...run.counters[0]!.series.line(0, 20 * MS, 2).mean]).toEqual([500, 700]);
		expect(run.nowNs).toBe(20 * MS);
	});

	it('is the same in the copy that another tab gets, and goes on there', () => {
		const one = new RunAccumulator('r');
		one.apply(counts);
		one.apply(updateOfSamples(FIRST));
		one.apply(updateOfOutput({ run: 'r', stream: 1, text: 'hello\n' }));
		one.apply(updateOfLedger('r', { samples: 3 }));
		const two = RunAccumulator.restored(structuredClone(one.save()));
		for (const run of [one, two]) {
			run.apply(updateOfSamples(samples({ gain: [[0, 1, 5, 50]], to_ns: 100 * MS })));
			run.apply(counts);
			run.apply(updateOfOutput({ run: 'r', stream: 2, text: 'oh', left_out: 9 }));
		}
		expect(two.save()).toEqual(one.save());
		expect(two.tree.tree('cpu-clock').total).toBe(350);
		expect(two.counters).toHaveLength(2);
	});

	it('marks where samples are lost, from the second ledger on', () => {
		const run = new RunAccumulator('r');
		run.apply(updateOfSamples(FIRST));
		run.apply(updateOfLedger('r', { samples: 3, lost: 5 }));
		expect(run.marks).toEqual([]);
		run.apply(updateOfSamples(samples({ gain: [[0, 1, 5, 50]], to_ns: 100 * MS })));
		run.apply(updateOfLedger('r', { samples: 3, lost: 7, dropped: 1, throttled: 2 }));
		run.apply(updateOfLedger('r', { samples: 3, lost: 7, dropped: 1, throttled: 2 }));
		expect(run.marks).toEqual([
			{ ns: 100 * MS, kind: 'lost', count: 3 },
			{ ns: 100 * MS, kind: 'throttled', count: 2 },
		]);
		expect(RunAccumulator.restored(structuredClone(run.save())).marks).toEqual(run.marks);
	});

	it('has nothing to ask the store for when a snapshot has all of it', () => {
		const run = new RunAccumulator('r');
		const rates = { from_ns: 0, step_ns: 50 * MS, samples: [[1, 0, 2]] };
		run.apply(updateOfSamples({ ...FIRST, to_ns: 140 * MS, rates }));
		expect(run.pastNs).toBe(0);
		expect([...run.rates[0]!.line(0, 150 * MS, 3).mean]).toEqual([20, 0, expect.closeTo(50)]);
	});

	it('takes the sum of a snapshot for what it is: no rate of one moment', () => {
		const run = new RunAccumulator('r');
		// 100 and 50 samples a second in the last two steps, the second of which is half over.
		const rates = { from_ns: 4.88e9, step_ns: 40 * MS, samples: [[4, 1]] };
		run.apply(updateOfSamples({ ...FIRST, to_ns: 4.94e9, rates }));
		const newest = run.rates[0]!.line(4.88e9, 4.92e9, 1).mean;
		expect(newest[0]).toBeCloseTo(100);
		expect(run.rates[0]!.line(4.92e9, 4.94e9, 1).mean[0]).toBeCloseTo(50);
		run.apply(updateOfSamples(samples({ gain: [[0, 1, 10, 10]], to_ns: 5.04e9 })));
		const { mean } = run.rates[0]!.line(4.94e9, 5.04e9, 1);
		expect(mean[0]).toBeCloseTo(100);
		expect(run.pastNs).toBe(4.88e9);
		run.addPast({
			from_ns: 0,
			to_ns: 4.8e9,
			counters: [],
			samples: [{ event: 'cpu-clock', t: [0, 2.4e9], rate: [40, 60], count: [98, 147] }],
			marks: [],
		});
		const past = run.rates[0]!.line(0, 4.8e9, 2).mean;
		expect(past[0]).toBeCloseTo(40);
		expect(past[1]).toBeCloseTo(60);
	});
});

describe('the newest of the output', () => {
	it('is bounded, and says how much it has left out', () => {
		const tail = new OutputTail(100_000);
		for (let i = 0; i < 1000; i++) tail.add(1, 'x'.repeat(1000));
		const kept = tail.since(0).reduce((sum, p) => sum + p.text.length, 0);
		expect(kept).toBeLessThanOrEqual(100_000);
		expect(kept).toBeGreaterThan(80_000);
		expect(tail.dropped + kept).toBe(1_000_000);
		expect(tail.end).toBe(1_000_000);
	});

	it('gives what is new to who has seen some', () => {
		const tail = new OutputTail();
		tail.add(1, 'one ');
		tail.add(1, 'two ');
		tail.add(2, 'three');
		expect(tail.since(0)).toEqual([
			{ stream: 1, text: 'one two ' },
			{ stream: 2, text: 'three' },
		]);
		expect(tail.since(5)).toEqual([
			{ stream: 1, text: 'wo ' },
			{ stream: 2, text: 'three' },
		]);
		expect(tail.since(tail.end)).toEqual([]);
	});
});

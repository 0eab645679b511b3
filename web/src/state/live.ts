/* What streams in of runs that go on. One stream serves all tabs (see api/live_worker.ts). Views draw
 * from these accumulators and redraw when `version` changes, at most as often as frames come. */
import type { Signal } from '@preact/signals';
import type { FlameTree, FunctionName, Ledger } from '../api/types';

/** Values of one counter: the newest at full resolution, all of them thinned. Bounded. */
export interface LiveCounter {
	name: string;
	unit: string | null;
	scale: number;
	cpu: number | null;
	/** Columns as a Timeline's line has them (rates a second), for @from…@to in at most @points. */
	line(
		from: number,
		to: number,
		points: number,
	): { t: number[]; min: (number | null)[]; max: (number | null)[]; mean: (number | null)[] };
}

export interface LiveRun {
	uuid: string;
	/** Counts up when anything below has changed. */
	version: Signal<number>;
	/** The newest time that was seen, ns since the run began. */
	nowNs: number;
	counters: LiveCounter[];
	/** Samples a second, one line for each event. */
	rates: LiveCounter[];
	events: string[];
	names: FunctionName[];
	/** The call tree of one event so far, with totals; made when asked for. */
	tree(event: string | null): FlameTree;
	ledger: Ledger | null;
	output: LiveOutput;
}

/** The newest of what the workload printed. Bounded: `dropped` bytes before it are left out. */
export interface LiveOutput {
	pieces: { stream: 1 | 2; text: string }[];
	dropped: number;
}

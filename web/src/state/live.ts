/* Live data of runs that go on. One stream serves all tabs (see api/live_hub.ts). Views draw from
 * these accumulators when `version` changes, all of them in the same frame. */
import { batch, computed, effect, signal, type Signal } from '@preact/signals';
import { on, watch } from '../api/live';
import type { Connection } from '../api/live_protocol';
import type { FlameTree, FunctionName, Ledger, Mark } from '../api/types';
import type { Line } from '../logic/live/live_counts';
import { RunAccumulator, type RunUpdate, type SavedRun } from '../logic/live/live_run';
import { forget } from './questions';
import { hasEnded, run } from './runs';

/** Values of one counter, bounded: the newest at full resolution, all of them thinned. */
export interface LiveCounter {
	name: string;
	unit: string | null;
	scale: number;
	cpu: number | null;
	/** @from…@to in @points pixels: rates a second, NaN where nothing was counted. */
	line(from: number, to: number, points: number): Line;
}

/** The newest output of the workload. Bounded: `dropped` bytes before it are left out. */
interface LiveOutput {
	/** Number of characters received so far. */
	readonly end: number;
	readonly dropped: number;
	/** Output after the first @seen characters, as far as it is kept. */
	since(seen: number): { stream: 1 | 2; text: string }[];
}

interface LiveRun {
	readonly uuid: string;
	/** Counts up when anything below has changed. */
	readonly version: Signal<number>;
	/** The newest time that was seen, ns since the run began. */
	readonly nowNs: number;
	readonly counters: LiveCounter[];
	/** Samples a second, one line for each event; `name` is the event. */
	readonly rates: LiveCounter[];
	readonly events: string[];
	/** The event that is shown unless the user chose one; null if none is known yet. */
	readonly shownEvent: string | null;
	readonly names: FunctionName[];
	/** The call tree of one event so far, with totals. The arrays go on growing. */
	tree(event: string | null): FlameTree;
	readonly ledger: Ledger | null;
	readonly marks: Mark[];
	readonly output: LiveOutput;
}

/** State of the live stream. */
export const connection = signal<Connection>({ state: 'connecting', retryMs: 0 });

/** How long a run's data stays after its end, while views switch to the stored run. */
const LINGER_MS = 15_000;

class Live implements LiveRun {
	readonly version = signal(0);
	private data: RunAccumulator;

	constructor(readonly uuid: string) {
		this.data = new RunAccumulator(uuid);
	}

	get nowNs() {
		return this.data.nowNs;
	}
	get counters(): LiveCounter[] {
		return this.data.counters.map(({ info, series }) => ({
			name: info.name,
			unit: info.unit,
			scale: info.scale,
			cpu: info.cpu,
			line: (from, to, points) => series.line(from, to, points),
		}));
	}
	get rates(): LiveCounter[] {
		return this.data.rates.map((series, event) => ({
			name: this.data.tree.events[event]!,
			unit: null,
			scale: 1,
			cpu: null,
			line: (from, to, points) => series.line(from, to, points),
		}));
	}
	get events() {
		return this.data.tree.events;
	}
	get shownEvent() {
		return this.data.shownEvent;
	}
	get names() {
		return this.data.tree.names;
	}
	get ledger() {
		return this.data.ledger;
	}
	get marks() {
		return this.data.marks;
	}
	get output(): LiveOutput {
		return this.data.output;
	}
	tree(event: string | null): FlameTree {
		return this.data.tree.tree(event);
	}

	apply(update: RunUpdate): void {
		this.data.apply(update);
	}
	replace(saved: SavedRun): void {
		this.data = RunAccumulator.restored(saved);
	}
}

const known = new Map<string, Live>();

/** Live data of a run that goes on; empty for any run but the open one. */
export function liveRun(uuid: string): LiveRun {
	const made = known.get(uuid) ?? new Live(uuid);
	known.set(uuid, made);
	return made;
}

on('connection', (now) => (connection.value = now));

/** Redraw no more often: the machine that draws may be the one that is measured. */
const TELL_EVERY_MS = 220;
const changed = new Set<Live>();
let toldAt = -Infinity;
let telling = 0;

function tell(): void {
	telling = 0;
	toldAt = performance.now();
	batch(() => {
		for (const live of changed) live.version.value++;
	});
	changed.clear();
}

function hasChanged(live: Live): void {
	changed.add(live);
	telling ||= window.setTimeout(tell, Math.max(0, toldAt + TELL_EVERY_MS - performance.now()));
}

on('updates', (all) => {
	for (const update of all) {
		const live = known.get(update.run);
		live?.apply(update);
		if (live) hasChanged(live);
	}
});
on('whole', (saved) => {
	const live = known.get(saved.run);
	live?.replace(saved);
	if (live) hasChanged(live);
});
on('state', (r) => hasEnded(r) && forget(r.uuid));

/** The open run, while it waits and runs. */
const watched = computed(() => (run.value && !hasEnded(run.value) ? run.value.uuid : null));

effect(() => {
	const uuid = watched.value;
	if (!uuid) return;
	liveRun(uuid);
	const stop = watch(['run/' + uuid]);
	return () => {
		stop();
		setTimeout(() => watched.peek() !== uuid && known.delete(uuid), LINGER_MS);
	};
});

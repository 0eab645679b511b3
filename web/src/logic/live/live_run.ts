/* All live data of a run: accumulators that updates are applied to. The hub has one for each
 * watched run, and so has each tab that shows it. */
import type {
	FunctionName,
	Ledger,
	LiveCounter,
	LiveCounts,
	LiveOutput,
	LiveSamples,
	Mark,
	Timeline,
} from '../../api/types';
import { CounterSeries, type SavedCounter } from './live_counts';
import { OutputTail, type SavedOutput } from './live_output';
import { LiveTree, type SavedTree } from './live_tree';

/** A counter as the timeline describes it. */
type CounterInfo = Omit<LiveCounter, 'unit'> & { unit: string | null };
/** Number of samples of each event in each step, from a start time on. */
type SampleRates = NonNullable<LiveSamples['rates']>;

/** New data of a run; numbers are in flat arrays, which are cheap to pass on. */
export interface RunUpdate {
	run: string;
	counters: CounterInfo[];
	/** time, counter, value, duration of each */
	counts: Float64Array;
	names: FunctionName[];
	/** parent, name, inlined of each */
	nodes: Uint32Array;
	events: string[];
	/** Index of the event that is shown by default; null: this update has no samples. */
	event: number | null;
	/** event, node, samples, weight of each */
	gain: Float64Array;
	/** Time of the newest sample; 0: this update has no samples. */
	toNs: number;
	/** Samples of each event over time: totals of the run so far, not an increment. */
	rates: SampleRates | null;
	output: { stream: 1 | 2; text: string; leftOut: number }[];
	ledger: Ledger | null;
}

export interface SavedRun {
	run: string;
	nowNs: number;
	sampledNs: number;
	waiting: number[];
	event: number;
	counters: { info: CounterInfo; series: SavedCounter }[];
	rates: SavedCounter[];
	tree: SavedTree;
	output: SavedOutput;
	ledger: Ledger | null;
	marks: Mark[];
}

/** The largest number of counters in an answer of the server. */
const COUNTERS_MAX = 256;
/** With more counters than this, each is kept at less detail. */
const DETAILED_COUNTERS = 32;
/** More marks could not be told apart. */
const MARKS_MAX = 1000;
/** Samples come in batches: rates over shorter times would only show the batches. */
const RATE_NS = 40e6;
const COUNT_FIELDS = 4;

const NONE: Omit<RunUpdate, 'run'> = {
	counters: [],
	counts: new Float64Array(0),
	names: [],
	nodes: new Uint32Array(0),
	events: [],
	event: null,
	gain: new Float64Array(0),
	toNs: 0,
	rates: null,
	output: [],
	ledger: null,
};

export function updateOfCounts(m: LiveCounts): RunUpdate {
	const counts = new Float64Array(COUNT_FIELDS * m.t.length);
	for (let i = 0; i < m.t.length; i++) {
		counts[COUNT_FIELDS * i] = m.t[i]!;
		counts[COUNT_FIELDS * i + 1] = m.id[i]!;
		counts[COUNT_FIELDS * i + 2] = m.value[i]!;
		counts[COUNT_FIELDS * i + 3] = m.duration[i]!;
	}
	const counters = m.counters.map((c) => ({ ...c, unit: c.unit || null }));
	return { ...NONE, run: m.run, counters, counts };
}

export function updateOfSamples(m: LiveSamples): RunUpdate {
	return {
		...NONE,
		run: m.run,
		names: m.names as FunctionName[],
		nodes: Uint32Array.from(m.nodes.flat()),
		events: m.events,
		event: m.event,
		gain: Float64Array.from(m.gain.flat()),
		toNs: m.to_ns,
		rates: m.rates ?? null,
	};
}

export function updateOfOutput(m: LiveOutput): RunUpdate {
	const piece = { stream: m.stream, text: m.text, leftOut: m.left_out ?? 0 };
	return { ...NONE, run: m.run, output: [piece] };
}

export function updateOfLedger(run: string, ledger: Ledger): RunUpdate {
	return { ...NONE, run, ledger };
}

function lost(l: Ledger): number {
	return (l.lost ?? 0) + (l.dropped ?? 0);
}

export class RunAccumulator {
	/** The newest time of any data. */
	nowNs = 0;
	readonly counters: { info: CounterInfo; series: CounterSeries }[] = [];
	/** Samples over time, by event. */
	rates: CounterSeries[] = [];
	readonly tree = new LiveTree();
	readonly output = new OutputTail();
	ledger: Ledger | null = null;
	/** Where samples were lost or throttled, as exactly as the ledger is reported. */
	marks: Mark[] = [];
	/** Index of the event that is shown by default: the server chooses it. */
	private event = 0;
	private byId = new Map<number, CounterSeries>();
	/** The rates include the samples up to here; later ones wait, by event. */
	private sampledNs = -1;
	private waiting: number[] = [];

	constructor(readonly run: string) {}

	apply(u: RunUpdate): void {
		for (const info of u.counters) this.addCounter(info);
		this.addCounts(u.counts);
		this.tree.addNames(u.names);
		this.tree.addNodes(u.nodes);
		this.tree.addEvents(u.events);
		this.tree.addGain(u.gain);
		this.event = u.event ?? this.event;
		if (u.rates) this.startRates(u.rates, u.toNs);
		else if (u.toNs) this.addRates(u);
		for (const piece of u.output) this.output.add(piece.stream, piece.text, piece.leftOut);
		if (u.ledger) this.addLedger(u.ledger);
	}

	/** The event that is shown by default; null if none is known yet. */
	get shownEvent(): string | null {
		return this.tree.events[this.event] ?? null;
	}

	private addLedger(ledger: Ledger): void {
		const before = this.ledger;
		this.ledger = ledger;
		// The first ledger is about the time before we watched: the store has the marks.
		if (!before) return;
		this.addMark('lost', lost(ledger) - lost(before));
		this.addMark('throttled', (ledger.throttled ?? 0) - (before.throttled ?? 0));
	}

	/** Whether samples were lost at a time that is not known here. */
	private get hasOldLosses(): boolean {
		return !this.marks.length && !!this.ledger && lost(this.ledger) > 0;
	}

	private addMark(kind: Mark['kind'], count: number): void {
		if (count > 0) this.marks = [...this.marks, { ns: this.nowNs, kind, count }].slice(-MARKS_MAX);
	}

	private addCounter(info: CounterInfo): void {
		if (this.byId.has(info.id) || this.counters.length >= COUNTERS_MAX) return;
		const detailed = this.counters.length < DETAILED_COUNTERS;
		const series = detailed ? new CounterSeries() : new CounterSeries(1024, 512);
		this.counters.push({ info, series });
		this.byId.set(info.id, series);
	}

	private addCounts(counts: Float64Array): void {
		for (let i = 0; i < counts.length; i += COUNT_FIELDS) {
			const t = counts[i]!;
			this.byId.get(counts[i + 1]!)?.add(t, counts[i + 3]!, counts[i + 2]!);
			if (t > this.nowNs) this.nowNs = t;
		}
	}

	/** Replaces the rates by @past, whose newest step may not be over. */
	private startRates(past: SampleRates, toNs: number): void {
		const step = past.step_ns;
		this.rates = this.tree.events.map(() => new CounterSeries());
		this.rates.forEach((rate, event) =>
			past.samples[event]?.forEach((samples, i) => {
				const begin = past.from_ns + i * step;
				const end = Math.min(begin + step, Math.max(toNs, begin));
				rate.add(end, end - begin, samples);
			}),
		);
		const end = past.from_ns + step * Math.max(0, ...past.samples.map((all) => all.length));
		this.sampledNs = Math.min(toNs, end);
		this.nowNs = Math.max(this.nowNs, toNs);
		this.waiting = [];
	}

	/** Adds the samples since the last update. */
	private addRates(u: RunUpdate): void {
		while (this.rates.length < this.tree.events.length) this.rates.push(new CounterSeries());
		for (let i = 0; i < u.gain.length; i += COUNT_FIELDS) {
			const event = u.gain[i]!;
			this.waiting[event] = (this.waiting[event] ?? 0) + u.gain[i + 2]!;
		}
		this.nowNs = Math.max(this.nowNs, u.toNs);
		const since = Math.max(0, this.sampledNs);
		if (u.toNs - since < RATE_NS) return;
		this.rates.forEach((rate, event) => rate.add(u.toNs, u.toNs - since, this.waiting[event] ?? 0));
		this.waiting = [];
		this.sampledNs = u.toNs;
	}

	/** Data from before this time is only in the store; 0: there is none. */
	get pastNs(): number {
		if (this.hasOldLosses) return this.nowNs;
		const all = [...this.counters.map((c) => c.series), ...this.rates];
		return Math.max(0, ...all.map((series) => series.beginNs));
	}

	/** Adds stored data from before pastNs. */
	addPast(t: Timeline): void {
		const pixel = (times: ArrayLike<number>) =>
			times.length > 1 ? times[1]! - times[0]! : t.to_ns - t.from_ns;
		for (const line of t.counters) {
			const known = this.counters.find(
				({ info }) => info.name === line.name && info.cpu === line.cpu,
			);
			for (let i = 0; known && i < line.t.length; i++) {
				const begin = line.t[i]!;
				known.series.addPast(
					begin,
					begin + pixel(line.t),
					line.min[i]!,
					line.max[i]!,
					line.mean[i]!,
				);
			}
		}
		this.marks = [...t.marks, ...this.marks].slice(-MARKS_MAX);
		for (const line of t.samples) {
			const rate = this.rates[this.tree.events.indexOf(line.event)];
			for (let i = 0; rate && i < line.t.length; i++) {
				const [begin, value] = [line.t[i]!, line.rate[i]!];
				rate.addPast(begin, begin + pixel(line.t), value, value, value);
			}
		}
	}

	save(): SavedRun {
		return {
			run: this.run,
			nowNs: this.nowNs,
			sampledNs: this.sampledNs,
			waiting: this.waiting,
			event: this.event,
			counters: this.counters.map((c) => ({ info: c.info, series: c.series.save() })),
			rates: this.rates.map((r) => r.save()),
			tree: this.tree.save(),
			output: this.output.save(),
			ledger: this.ledger,
			marks: this.marks,
		};
	}

	/** Takes over @saved: the result of save(), copied by a message. */
	static restored(saved: SavedRun): RunAccumulator {
		const made = new RunAccumulator(saved.run);
		for (const c of saved.counters) {
			made.addCounter(c.info);
			made.byId.get(c.info.id)?.restore(c.series);
		}
		made.rates = saved.rates.map((r) => new CounterSeries().restore(r));
		made.tree.restore(saved.tree);
		made.output.restore(saved.output);
		made.ledger = saved.ledger;
		made.marks = saved.marks;
		made.nowNs = saved.nowNs;
		made.sampledNs = saved.sampledNs;
		made.waiting = saved.waiting;
		made.event = saved.event;
		return made;
	}
}

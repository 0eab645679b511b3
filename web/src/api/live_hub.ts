/* The one place of a browser that has a live stream: messages are parsed once and passed on to the tabs
 * that want them. Of runs it keeps all that was said, so that a tab that comes later, or is looked at
 * again, gets the whole at once. */
import { getColumns } from './client';
import type {
	Connection,
	CountsMessage,
	FromHub,
	FromTab,
	LedgerMessage,
	OutputMessage,
	SamplesMessage,
	Topic,
} from './live_protocol';
import { LiveStream, type StreamEvent } from './live_stream';
import type { Run, Timeline } from './types';
import {
	RunAccumulator,
	updateOfCounts,
	updateOfLedger,
	updateOfOutput,
	updateOfSamples,
	type RunUpdate,
} from '../logic/live/live_run';

type Post = (message: FromHub) => void;

interface Tab {
	topics: Set<Topic>;
	shown: boolean;
	post: Post;
	seenMs: number;
}

interface WatchedRun {
	data: RunAccumulator;
	/** A snapshot is coming in: what there is makes no sense before its end. */
	partial: boolean;
}

/** Hidden tabs say only once a minute that they are there. */
const PATIENCE_MS = 150_000;
/** What a tab may have missed between asking the server and watching. */
const RECENT_MS = 15_000;
/** How long news of runs wait for each other. */
const BATCH_MS = 100;
/** Until the server has stored what it has told. */
const STORED_MS = 1500;
/** Counting begins a little later than the run: that much nobody misses. */
const PAST_MIN_NS = 100e6;
/** The first picture waits so long for what came before it. */
const PAST_PATIENCE_MS = 400;
const PAST_PIXELS = 2000;

export class Hub {
	private readonly tabs = new Map<string, Tab>();
	private readonly runs = new Map<string, WatchedRun>();
	private recent: { atMs: number; topics: Topic[]; message: FromHub }[] = [];
	/** News of runs that tabs have not got yet. */
	private waiting: RunUpdate[] = [];
	private flushing: ReturnType<typeof setTimeout> | undefined;
	private queue: FromHub | null = null;
	private connection: Connection = { state: 'connecting', retryMs: 0 };
	private readonly stream = new LiveStream({
		event: (kind, text) => this.event(kind, text),
		connection: (now) => {
			this.connection = now;
			this.pass({ kind: 'connection', data: now }, null);
		},
		missed: (topics) => {
			for (const topic of topics) this.pass({ kind: 'missed', data: { topic } }, [topic]);
		},
		unknown: (topic) => {
			this.pass({ kind: 'removed', data: { uuid: topic.split('/')[1]! } }, [topic]);
			this.end(topic);
		},
	});

	constructor() {
		setInterval(() => this.sweep(), RECENT_MS);
	}

	/* ---- tabs ---- */

	hear(message: FromTab, post: Post): void {
		const known = this.tabs.get(message.tab);
		if (known) known.seenMs = Date.now();
		if (message.say === 'want') this.want(message, post);
		else if (message.say === 'bye') this.leave(message.tab);
		else if (!known) post({ kind: 'who', data: null });
	}

	private want(m: Extract<FromTab, { say: 'want' }>, post: Post): void {
		const before = this.tabs.get(m.tab);
		const tab = { topics: new Set(m.topics), shown: m.shown, post, seenMs: Date.now() };
		this.tabs.set(m.tab, tab);
		if (!before) post({ kind: 'connection', data: this.connection });
		for (const topic of tab.topics) {
			const isNew = !before?.topics.has(topic);
			if (isNew) this.greet(tab, topic);
			if (tab.shown && (isNew || !before?.shown)) this.giveWhole(tab, topic);
		}
		this.topicsChanged();
	}

	private leave(name: string): void {
		if (this.tabs.delete(name)) this.topicsChanged();
	}

	private sweep(): void {
		const now = Date.now();
		for (const [name, tab] of this.tabs) if (tab.seenMs + PATIENCE_MS < now) this.leave(name);
		this.recent = this.recent.filter((r) => r.atMs + RECENT_MS > now);
	}

	private topicsChanged(): void {
		const all = new Set<Topic>();
		for (const tab of this.tabs.values()) for (const topic of tab.topics) all.add(topic);
		for (const uuid of this.runs.keys()) if (!all.has('run/' + uuid)) this.runs.delete(uuid);
		this.stream.setTopics(all);
	}

	/** For who comes later on a topic that is being watched. */
	private greet(tab: Tab, topic: Topic): void {
		if (topic === 'queue' && this.queue) tab.post(this.queue);
		for (const r of this.recent) if (r.topics.includes(topic)) tab.post(r.message);
	}

	private giveWhole(tab: Tab, topic: Topic): void {
		const run = topic.startsWith('run/') ? this.runs.get(topic.slice(4)) : undefined;
		if (!run || run.partial) return;
		this.flush(); // what waits is in the whole: it must not come after it
		tab.post({ kind: 'whole', data: run.data.save() });
	}

	/** @topics null: to all tabs. */
	private pass(message: FromHub, topics: Topic[] | null): void {
		for (const tab of this.tabs.values())
			if (!topics || topics.some((topic) => tab.topics.has(topic))) tab.post(message);
	}

	/* ---- the stream ---- */

	private event(kind: StreamEvent, text: string): void {
		const data = JSON.parse(text);
		switch (kind) {
			case 'counts':
				return this.update(updateOfCounts(data as CountsMessage));
			case 'samples':
				return this.update(updateOfSamples(data as SamplesMessage));
			case 'output':
				return this.update(updateOfOutput(data as OutputMessage));
			case 'ledger': {
				const { run, ...ledger } = data as LedgerMessage;
				return this.update(updateOfLedger(run, ledger));
			}
			case 'snapshot':
				return this.snapshot(data.topic);
			case 'current':
				return this.current(data.topic);
			case 'end':
				this.flush();
				this.pass({ kind, data }, [data.topic]);
				return this.end(data.topic);
			default:
				return this.say({ kind, data } as FromHub);
		}
	}

	/** Of what is not the data of a run. */
	private say(message: FromHub): void {
		const topics = topicsOf(message);
		if (message.kind === 'queue') {
			this.queue = message;
			this.stream.hasAll('queue');
		} else if (topics) this.remember(message, topics);
		this.pass(message, topics);
	}

	private remember(message: FromHub, topics: Topic[]): void {
		// Of a run, the last state says all.
		if (message.kind === 'state')
			this.recent = this.recent.filter(
				(r) => r.message.kind !== 'state' || r.message.data.uuid !== message.data.uuid,
			);
		this.recent.push({ atMs: Date.now(), topics, message });
	}

	private update(update: RunUpdate): void {
		const run = this.watched(update.run);
		run.data.apply(update);
		if (run.partial) return;
		this.stream.hasAll('run/' + update.run);
		this.waiting.push(update);
		this.flushing ??= setTimeout(() => this.flush(), BATCH_MS);
	}

	/** Each message wakes tabs, and each waking has them draw: many at once cost much less. */
	private flush(): void {
		clearTimeout(this.flushing);
		this.flushing = undefined;
		const all = this.waiting;
		this.waiting = [];
		for (const tab of this.tabs.values()) {
			const data = tab.shown ? all.filter((u) => tab.topics.has('run/' + u.run)) : [];
			if (data.length) tab.post({ kind: 'updates', data });
		}
	}

	private watched(uuid: string): WatchedRun {
		const run = this.runs.get(uuid) ?? { data: new RunAccumulator(uuid), partial: false };
		this.runs.set(uuid, run);
		return run;
	}

	private snapshot(topic: Topic): void {
		this.flush();
		this.stream.begins(topic);
		const [kind, uuid] = topic.split('/');
		if (kind === 'run') this.runs.set(uuid!, { data: new RunAccumulator(uuid!), partial: true });
	}

	private current(topic: Topic): void {
		this.stream.hasAll(topic);
		const run = topic.startsWith('run/') ? this.runs.get(topic.slice(4)) : undefined;
		if (!run) return;
		const give = () => {
			if (this.runs.get(run.data.run) !== run) return;
			run.partial = false;
			this.giveAll(topic);
		};
		const past = run.data.pastNs;
		if (past < PAST_MIN_NS) return give();
		const inTime = setTimeout(give, PAST_PATIENCE_MS);
		setTimeout(
			async () => {
				await this.addPast(run, past);
				clearTimeout(inTime);
				give();
			},
			Math.max(0, STORED_MS - (run.data.nowNs - past) / 1e6),
		);
	}

	private giveAll(topic: Topic): void {
		for (const tab of this.tabs.values())
			if (tab.shown && tab.topics.has(topic)) this.giveWhole(tab, topic);
	}

	/** A snapshot has only the newest of counters and rates: what came before is in the store. */
	private async addPast(run: WatchedRun, to: number): Promise<void> {
		try {
			const query = { from: 0, to, pixels: PAST_PIXELS, samples: true };
			const path = `benchmark/${run.data.run}/timeline`;
			run.data.addPast(await getColumns<Timeline>(path, query));
		} catch {
			// The lines begin later, then; the stored run has them.
		}
	}

	private end(topic: Topic): void {
		this.stream.end(topic);
		if (topic.startsWith('run/')) this.runs.delete(topic.slice(4));
	}
}

/** Who wants to know; null: everybody. */
function topicsOf(message: FromHub): Topic[] | null {
	switch (message.kind) {
		case 'state': {
			const run = message.data as Run;
			return ['run/' + run.uuid, 'session/' + run.session];
		}
		case 'queue':
			return ['queue'];
		case 'session':
		case 'session_removed':
			return ['sessions'];
		case 'missed':
			return [message.data.topic];
		case 'note':
			return ['run/' + message.data.run];
		default:
			return null;
	}
}

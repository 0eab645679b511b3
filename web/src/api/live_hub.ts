/* The hub has the only live stream of a browser. It parses each message once and passes it on to
 * the tabs that watch its topic. It accumulates all data of watched runs, so that a tab that opens
 * or becomes visible later gets the whole run at once. */
import { getColumns } from './client';
import type { Connection, FromHub, FromTab, Topic } from './live_protocol';
import { LiveStream, type StreamEvent } from './live_stream';
import type { LiveCounts, LiveLedger, LiveOutput, LiveSamples, Run, Timeline } from './types';
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
	/** A snapshot is still arriving: the data makes no sense before its end. */
	partial: boolean;
}

/** Tabs that are silent for longer are dropped. Hidden tabs send "alive" only once a minute. */
const PATIENCE_MS = 150_000;
/** Messages of this age are replayed to a new watcher: they may have come after its own request. */
const RECENT_MS = 15_000;
/** Updates of runs are collected for this long. */
const BATCH_MS = 100;
/** Time that the server needs to store data it has already streamed. */
const STORED_MS = 1500;
/** Counting begins a little after the run: a shorter gap at the start is not filled. */
const PAST_MIN_NS = 100e6;
/** The first picture waits no longer than this for data older than the snapshot. */
const PAST_PATIENCE_MS = 400;
const PAST_PIXELS = 2000;

export class Hub {
	private readonly tabs = new Map<string, Tab>();
	private readonly runs = new Map<string, WatchedRun>();
	private recent: { atMs: number; topics: Topic[]; message: FromHub }[] = [];
	/** Updates of runs that were not sent to the tabs yet. */
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

	/** Replays the queue or the recent messages to a tab that joins a watched topic. */
	private greet(tab: Tab, topic: Topic): void {
		if (topic === 'queue' && this.queue) tab.post(this.queue);
		for (const r of this.recent) if (r.topics.includes(topic)) tab.post(r.message);
	}

	private giveWhole(tab: Tab, topic: Topic): void {
		const run = topic.startsWith('run/') ? this.runs.get(topic.slice(4)) : undefined;
		if (!run || run.partial) return;
		this.flush(); // pending updates are part of the whole: they must not follow it
		tab.post({ kind: 'whole', data: run.data.save() });
	}

	/** @topics: null sends to all tabs. */
	private pass(message: FromHub, topics: Topic[] | null): void {
		for (const tab of this.tabs.values())
			if (!topics || topics.some((topic) => tab.topics.has(topic))) tab.post(message);
	}

	/* ---- the stream ---- */

	private event(kind: StreamEvent, text: string): void {
		const data = JSON.parse(text);
		switch (kind) {
			case 'counts':
				return this.update(updateOfCounts(data as LiveCounts));
			case 'samples':
				return this.update(updateOfSamples(data as LiveSamples));
			case 'output':
				return this.update(updateOfOutput(data as LiveOutput));
			case 'ledger': {
				const { run, ...ledger } = data as LiveLedger;
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

	/** Passes on messages that carry no run data. */
	private say(message: FromHub): void {
		const topics = topicsOf(message);
		if (message.kind === 'queue') {
			this.queue = message;
			this.stream.hasAll('queue');
		} else if (topics) this.remember(message, topics);
		this.pass(message, topics);
	}

	private remember(message: FromHub, topics: Topic[]): void {
		// The newest state of a run replaces the earlier ones.
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

	/** Sends updates together: each message wakes tabs and makes them draw. */
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

	/** Snapshots have only the newest counts and rates: loads older ones from the store. */
	private async addPast(run: WatchedRun, to: number): Promise<void> {
		try {
			const query = { from: 0, to, pixels: PAST_PIXELS, samples: true };
			const path = `benchmark/${run.data.run}/timeline`;
			run.data.addPast(await getColumns<Timeline>(path, query));
		} catch {
			// The lines then begin later; the stored run has the missing part.
		}
	}

	private end(topic: Topic): void {
		this.stream.end(topic);
		if (topic.startsWith('run/')) this.runs.delete(topic.slice(4));
	}
}

/** Topics whose watchers get @message; null: all tabs. */
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

/* One event stream for a changing set of topics. It is opened anew when topics come, or after it broke,
 * and goes on behind the last message that was seen. Topics that it has not had yet are named as fresh:
 * for them the number of the last message means nothing, the server sends all that there is. */
import { API, ApiError, get } from './client';
import type { Connection, Topic } from './live_protocol';

const STREAM_EVENTS = [
	'state',
	'removed',
	'queue',
	'session',
	'session_removed',
	'counts',
	'samples',
	'output',
	'ledger',
	'note',
	'snapshot',
	'current',
	'missed',
	'end',
] as const;
export type StreamEvent = (typeof STREAM_EVENTS)[number];

interface StreamListener {
	event(kind: StreamEvent, text: string): void;
	connection(now: Connection): void;
	/** The stream was away: what was said on these topics meanwhile may never come. */
	missed(topics: Topic[]): void;
	/** The server does not know this topic. */
	unknown(topic: Topic): void;
}

const PAUSE_MIN_MS = 500;
const PAUSE_MAX_MS = 10_000;
/** A stream that held this long was a good one. */
const GOOD_MS = 5000;
/** Topics that come in one moment are one opening; those that go have time: they may come back. */
const ADD_MS = 20;
const REMOVE_MS = 5000;

function isPlain(topic: Topic): boolean {
	return topic.startsWith('session');
}

function parameter(topic: Topic): string {
	const [kind, uuid] = topic.split('/');
	return `${kind}=${uuid ?? 1}`;
}

export class LiveStream {
	private desired = new Set<Topic>();
	/** Those of the stream that is open. */
	private carried = new Set<Topic>();
	/** Those that `last` holds for. */
	private had = new Set<Topic>();
	private ended = new Set<Topic>();
	private last = '';
	private source: EventSource | null = null;
	private timer: ReturnType<typeof setTimeout> | undefined;
	private pause = PAUSE_MIN_MS;
	private broken = false;

	constructor(private readonly listener: StreamListener) {}

	setTopics(topics: Set<Topic>): void {
		for (const topic of this.desired) if (!topics.has(topic)) this.ended.delete(topic);
		this.desired = new Set(topics);
		if (this.broken) return; // it is opened soon anyway
		const wanted = this.wanted();
		if (wanted.some((topic) => !this.carried.has(topic))) this.openIn(ADD_MS);
		else if (wanted.length < this.carried.size) this.openIn(REMOVE_MS);
	}

	private wanted(): Topic[] {
		return [...this.desired].filter((topic) => !this.ended.has(topic));
	}

	private openIn(ms: number): void {
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.open(), ms);
	}

	private close(): void {
		this.source?.close();
		this.source = null;
		this.carried.clear();
	}

	private open(): void {
		this.close();
		const topics = this.wanted();
		for (const topic of this.had) if (!topics.includes(topic)) this.had.delete(topic);
		if (!topics.length) return;
		this.carried = new Set(topics);
		const words = topics.map(parameter);
		if (Number(this.last)) {
			words.push('last=' + this.last);
			for (const topic of topics) if (!this.had.has(topic)) words.push('fresh=' + topic);
		} else this.had.clear();
		const source = new EventSource(API + 'live?' + words.join('&'));
		this.source = source;
		this.attend(source);
	}

	private attend(source: EventSource): void {
		let opened = 0;
		source.onopen = () => {
			opened = Date.now();
			for (const topic of this.carried) if (isPlain(topic)) this.had.add(topic);
			this.listener.connection({ state: 'open', retryMs: 0 });
			if (this.broken) this.listener.missed([...this.carried].filter(isPlain));
			this.broken = false;
		};
		source.onerror = () => {
			if (source !== this.source) return;
			if (opened && Date.now() - opened > GOOD_MS) this.pause = PAUSE_MIN_MS;
			this.recover(!opened);
		};
		for (const kind of STREAM_EVENTS)
			source.addEventListener(kind, (e: MessageEvent<string>) => {
				if (source !== this.source) return;
				this.remember(e.lastEventId);
				this.listener.event(kind, e.data);
			});
	}

	/** "": a message without a number. "0": in the middle of a snapshot, all of it begins anew if it
	 * breaks now. What is older than the last is of a topic that is fresh. */
	private remember(id: string): void {
		if (id === '0' || Number(id) > Number(this.last)) this.last = id;
	}

	/** It broke, or was refused. */
	private recover(refused: boolean): void {
		const topics = [...this.carried];
		this.close();
		this.broken = this.wanted().length > 0;
		if (!this.broken) return;
		this.listener.connection({ state: 'lost', retryMs: this.pause });
		this.openIn(this.pause);
		this.pause = Math.min(PAUSE_MAX_MS, 2 * this.pause);
		if (refused) for (const topic of topics) void this.check(topic);
	}

	/** One topic that does not exist has the whole stream refused. */
	private async check(topic: Topic): Promise<void> {
		const [kind, uuid] = topic.split('/');
		if (!uuid) return;
		try {
			await get((kind === 'run' ? 'benchmark/' : 'session/') + uuid, { limit: 1 });
		} catch (e) {
			if (!(e instanceof ApiError) || e.status !== 404) return;
			this.end(topic);
			this.listener.unknown(topic);
		}
	}

	/** All of it has been told: from here on `last` holds for it, too. */
	hasAll(topic: Topic): void {
		if (Number(this.last)) this.had.add(topic);
	}

	begins(topic: Topic): void {
		this.had.delete(topic);
	}

	end(topic: Topic): void {
		if (this.desired.has(topic)) this.ended.add(topic);
		this.had.delete(topic);
	}
}

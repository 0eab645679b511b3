/* One event stream for a changing set of topics. The stream is reopened when topics change, or
 * after it broke, and continues after the last message received. Topics that it did not carry
 * before are named as fresh: the number of the last message does not apply to them, so the server
 * sends all it has. */
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
	/** The stream was interrupted: messages of these topics may be lost. */
	missed(topics: Topic[]): void;
	/** The server does not know this topic. */
	unknown(topic: Topic): void;
}

const PAUSE_MIN_MS = 500;
const PAUSE_MAX_MS = 10_000;
/** A stream that stayed open for this long resets the pause between tries. */
const GOOD_MS = 5000;
/** Topics added within ADD_MS share one reopening. Removed ones wait longer: they may come back. */
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
	/** Topics of the open stream. */
	private carried = new Set<Topic>();
	/** Topics that `last` applies to. */
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
		if (this.broken) return; // recover() has scheduled a reopening
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

	/** @id is "" for a message without a number, and "0" within a snapshot: if the stream
	 * breaks there, all topics start over. A number below `last` belongs to a fresh topic. */
	private remember(id: string): void {
		if (id === '0' || Number(id) > Number(this.last)) this.last = id;
	}

	/** Schedules a reopening after the stream broke or was refused. */
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

	/** Ends @topic if it does not exist: the server refuses streams with an unknown topic. */
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

	/** @topic is complete: from here on `last` applies to it, too. */
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

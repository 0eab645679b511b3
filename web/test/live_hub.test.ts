import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Hub } from '../src/api/live_hub';
import type { FromHub, Topic } from '../src/api/live_protocol';
import { RunAccumulator } from '../src/logic/live/live_run';

/** What the browser would have: messages are put into it by the tests. */
class FakeSource {
	static made: FakeSource[] = [];
	static get last(): FakeSource {
		return FakeSource.made.at(-1)!;
	}
	onopen: () => void = () => {};
	onerror: () => void = () => {};
	closed = false;
	private listeners = new Map<string, (e: { data: string; lastEventId: string }) => void>();
	constructor(readonly url: string) {
		FakeSource.made.push(this);
	}
	addEventListener(kind: string, fn: (e: { data: string; lastEventId: string }) => void) {
		this.listeners.set(kind, fn);
	}
	close() {
		this.closed = true;
	}
	say(kind: string, data: unknown, lastEventId = '') {
		this.listeners.get(kind)!({ data: JSON.stringify(data), lastEventId });
	}
	get query(): URLSearchParams {
		return new URLSearchParams(this.url.split('?')[1]);
	}
}

/** A tab that does with messages what state/live.ts does. */
class FakeTab {
	heard: FromHub[] = [];
	run: RunAccumulator | null = null;
	constructor(
		private readonly hub: Hub,
		private readonly name: string,
	) {}
	want(topics: Topic[], shown = true) {
		this.hub.hear({ say: 'want', tab: this.name, topics, shown }, (m) => this.hear(m));
	}
	bye() {
		this.hub.hear({ say: 'bye', tab: this.name }, () => {});
	}
	private hear(message: FromHub) {
		this.heard.push(structuredClone(message));
		if (message.kind === 'whole') this.run = RunAccumulator.restored(structuredClone(message.data));
		if (message.kind === 'updates')
			for (const update of message.data) (this.run ??= new RunAccumulator('r')).apply(update);
	}
	kinds(): string[] {
		return this.heard.map((m) => m.kind);
	}
	get total(): number | undefined {
		vi.advanceTimersByTime(100);
		return this.run?.tree.tree(this.run.shownEvent).total;
	}
}

const gain = (weight: number, more = {}) => ({
	run: 'r',
	names: [],
	nodes: [],
	events: [],
	event: 0,
	gain: [[0, 0, 1, weight]],
	to_ns: weight,
	...more,
});

function snapshot(source: FakeSource, weight: number, id: string) {
	source.say('snapshot', { topic: 'run/r' }, '0');
	source.say('samples', gain(weight, { events: ['cpu-clock'] }), '0');
	source.say('current', { topic: 'run/r' }, id);
}

beforeEach(() => {
	FakeSource.made = [];
	vi.useFakeTimers();
	vi.stubGlobal('EventSource', FakeSource);
	vi.stubGlobal('fetch', () => Promise.reject(new TypeError('no network')));
});
afterEach(() => {
	vi.useRealTimers();
	vi.unstubAllGlobals();
});

function watched() {
	const hub = new Hub();
	const tab = new FakeTab(hub, 'one');
	tab.want(['run/r', 'queue']);
	vi.advanceTimersByTime(50);
	FakeSource.last.onopen();
	return { hub, tab };
}

describe('the hub', () => {
	it('opens one stream for all tabs, and none when nobody is left', () => {
		const { hub, tab } = watched();
		const other = new FakeTab(hub, 'two');
		other.want(['run/r']);
		vi.advanceTimersByTime(6000);
		expect(FakeSource.made).toHaveLength(1);
		expect(FakeSource.last.query.getAll('run')).toEqual(['r']);
		expect(FakeSource.last.query.get('queue')).toBe('1');
		tab.bye();
		other.bye();
		vi.advanceTimersByTime(6000);
		expect(FakeSource.made).toHaveLength(1);
		expect(FakeSource.last.closed).toBe(true);
	});

	it('gives a tab that comes later the whole, then the same news as the others', () => {
		const { hub, tab } = watched();
		snapshot(FakeSource.last, 100, '5');
		FakeSource.last.say('samples', gain(10), '6');
		const late = new FakeTab(hub, 'late');
		late.want(['run/r']);
		expect(late.total).toBe(110);
		FakeSource.last.say('samples', gain(1), '7');
		expect([tab.total, late.total]).toEqual([111, 111]);
		expect(FakeSource.made).toHaveLength(1);
	});

	it('keeps a half snapshot to itself', () => {
		const { hub } = watched();
		FakeSource.last.say('snapshot', { topic: 'run/r' }, '0');
		FakeSource.last.say('samples', gain(100, { events: ['a'] }), '0');
		const late = new FakeTab(hub, 'late');
		late.want(['run/r']);
		expect(late.kinds()).not.toContain('whole');
		FakeSource.last.say('current', { topic: 'run/r' }, '9');
		expect(late.total).toBe(100);
	});

	/** What the server tells who comes late; its store has answered for the time before when `answer` ends. */
	async function late(answer: Promise<unknown>) {
		const body = () => answer.then((data) => new Response(JSON.stringify(data) + '\n'));
		vi.stubGlobal('fetch', vi.fn(body));
		const { tab } = watched();
		const rates = { from_ns: 20e9, step_ns: 5e9, samples: [[500, 500]] };
		FakeSource.last.say('snapshot', { topic: 'run/r' }, '0');
		FakeSource.last.say('samples', gain(100, { events: ['a'], to_ns: 30e9, rates }), '0');
		FakeSource.last.say('current', { topic: 'run/r' }, '9');
		await vi.advanceTimersByTimeAsync(20);
		return tab;
	}
	const stored = {
		from_ns: 0,
		to_ns: 20e9,
		counters: [],
		samples: [{ event: 'a', t: [0, 10e9], rate: [7, 8], count: [70, 80] }],
		marks: [],
	};

	it('shows a run that is opened late with its past, at once', async () => {
		const tab = await late(Promise.resolve(stored));
		expect(tab.kinds().filter((kind) => kind === 'whole')).toHaveLength(1);
		const { mean } = tab.run!.rates[0]!.line(0, 30e9, 3);
		expect([...mean]).toEqual([7, 8, 100].map((rate) => expect.closeTo(rate)));
	});

	it('does not wait for a past that takes its time', async () => {
		let answer: (data: unknown) => void = () => {};
		const tab = await late(new Promise((done) => (answer = done)));
		FakeSource.last.say('samples', gain(10, { to_ns: 31e9 }), '10');
		expect(tab.run).toBeNull();
		await vi.advanceTimersByTimeAsync(500);
		expect(tab.total).toBe(110);
		expect(tab.run!.rates[0]!.line(0, 10e9, 1).mean[0]).toBeNaN();
		answer(stored);
		await vi.advanceTimersByTimeAsync(20);
		expect(tab.total).toBe(110);
		expect(tab.run!.rates[0]!.line(0, 10e9, 1).mean[0]).toBeCloseTo(7);
	});

	it('goes on behind the last message when a topic comes, which is named as fresh', () => {
		const { hub, tab } = watched();
		const first = FakeSource.last;
		snapshot(first, 100, '5');
		first.say('queue', { running: [], queued: [] }, '6');
		new FakeTab(hub, 'two').want(['session/s']);
		vi.advanceTimersByTime(50);
		expect(first.closed).toBe(true);
		expect(FakeSource.last.query.get('last')).toBe('6');
		expect(FakeSource.last.query.getAll('fresh')).toEqual(['session/s']);
		// What the old one would still say came too late.
		first.say('samples', gain(1), '7');
		expect(tab.total).toBe(100);
		FakeSource.last.onopen();
		// Older messages of the fresh topic do not turn the clock back.
		FakeSource.last.say('state', { uuid: 'x', session: 's' }, '3');
		FakeSource.last.say('samples', gain(1), '7');
		expect(tab.total).toBe(101);
		new FakeTab(hub, 'three').want(['session/t']);
		vi.advanceTimersByTime(50);
		expect(FakeSource.last.query.get('last')).toBe('7');
		expect(FakeSource.last.query.getAll('fresh')).toEqual(['session/t']);
	});

	it('names a run as fresh until its snapshot was whole', () => {
		const { hub } = watched();
		FakeSource.last.say('queue', { running: [], queued: [] }, '6');
		new FakeTab(hub, 'two').want(['session/s']);
		vi.advanceTimersByTime(50);
		expect(FakeSource.last.query.getAll('fresh')).toEqual(['run/r', 'session/s']);
	});

	it('begins all anew when it breaks in the middle of a snapshot', () => {
		const { tab } = watched();
		snapshot(FakeSource.last, 100, '5');
		FakeSource.last.say('snapshot', { topic: 'run/r' }, '0');
		FakeSource.last.onerror();
		vi.advanceTimersByTime(600);
		expect(FakeSource.last.query.has('last')).toBe(false);
		FakeSource.last.onopen();
		snapshot(FakeSource.last, 120, '9');
		expect(tab.total).toBe(120);
	});

	it('comes back with growing pauses and says so', () => {
		const { tab } = watched();
		tab.want(['run/r', 'queue', 'session/s']);
		vi.advanceTimersByTime(50);
		FakeSource.last.onopen();
		const pauses = [];
		for (let i = 0; i < 7; i++) {
			const before = FakeSource.made.length;
			FakeSource.last.onerror();
			const said = tab.heard.at(-1)!;
			expect(said.kind).toBe('connection');
			const { state, retryMs } = said.data as { state: string; retryMs: number };
			expect(state).toBe('lost');
			pauses.push(retryMs);
			vi.advanceTimersByTime(retryMs - 1);
			expect(FakeSource.made).toHaveLength(before);
			vi.advanceTimersByTime(2);
			expect(FakeSource.made).toHaveLength(before + 1);
		}
		expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 10000, 10000]);
		tab.heard = [];
		FakeSource.last.onopen();
		// Sessions have no snapshot: what they said meanwhile may be gone.
		expect(tab.heard).toEqual([
			{ kind: 'connection', data: { state: 'open', retryMs: 0 } },
			{ kind: 'missed', data: { topic: 'session/s' } },
		]);
	});

	it('gives hidden tabs states only, and the whole when they are looked at', () => {
		const { hub } = watched();
		const hidden = new FakeTab(hub, 'hidden');
		hidden.want(['run/r'], false);
		snapshot(FakeSource.last, 100, '5');
		FakeSource.last.say('samples', gain(10), '6');
		FakeSource.last.say('state', { uuid: 'r', session: 's' }, '7');
		expect(hidden.kinds()).toEqual(['connection', 'state']);
		hidden.want(['run/r'], true);
		expect(hidden.total).toBe(110);
	});

	it('tells who comes later what was said a moment ago', () => {
		const { hub } = watched();
		FakeSource.last.say('queue', { running: ['r'], queued: [] }, '6');
		FakeSource.last.say('state', { uuid: 'r', session: 's', state: 'running' }, '7');
		FakeSource.last.say('state', { uuid: 'r', session: 's', state: 'done' }, '8');
		const late = new FakeTab(hub, 'late');
		late.want(['queue', 'run/r']);
		expect(late.kinds()).toEqual(['connection', 'queue', 'state']);
		expect(late.heard[2]!.data).toMatchObject({ state: 'done' });
	});

	it('does not ask for a topic that has ended', () => {
		const { hub, tab } = watched();
		snapshot(FakeSource.last, 100, '5');
		FakeSource.last.say('end', { topic: 'run/r' }, '6');
		expect(tab.kinds()).toContain('end');
		new FakeTab(hub, 'two').want(['session/s']);
		vi.advanceTimersByTime(50);
		expect(FakeSource.last.query.has('run')).toBe(false);
	});

	it('forgets tabs that are silent, and asks one that comes back what it wants', () => {
		const { hub, tab } = watched();
		vi.advanceTimersByTime(200_000);
		expect(FakeSource.last.closed).toBe(true);
		tab.heard = [];
		hub.hear({ say: 'alive', tab: 'one' }, (m) => tab.heard.push(m));
		expect(tab.kinds()).toEqual(['who']);
	});

	it('drops a run that the server does not know, which would have the whole stream refused', async () => {
		const body = JSON.stringify({ error: { code: 'not_found', message: 'no' } });
		vi.stubGlobal('fetch', () => Promise.resolve(new Response(body, { status: 404 })));
		const hub = new Hub();
		const tab = new FakeTab(hub, 'one');
		tab.want(['run/r', 'queue']);
		vi.advanceTimersByTime(50);
		FakeSource.last.onerror();
		await vi.advanceTimersByTimeAsync(600);
		expect(FakeSource.last.query.has('run')).toBe(false);
		expect(FakeSource.last.query.has('queue')).toBe(true);
		expect(tab.heard).toContainEqual({ kind: 'removed', data: { uuid: 'r' } });
	});
});

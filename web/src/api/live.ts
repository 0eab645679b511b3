/* Live messages for this tab. All tabs of a browser share one stream: see live_hub.ts. */
import type { FromHub, FromTab, LiveEvents, LiveKind, Topic } from './live_protocol';
import { reachHub } from './live_reach';

/** Far below the hub's PATIENCE_MS, as hidden tabs may run timers only once a minute. */
const ALIVE_MS = 25_000;

const tab = Math.random().toString(36).slice(2) + Date.now().toString(36);
const wanted = new Map<Topic, number>();
type Listener = (data: never) => void;
const listeners = new Map<LiveKind, Set<Listener>>();
let say: ((message: FromTab) => void) | null = null;
let told = false;

function tellWants(): void {
	told = false;
	say?.({ say: 'want', tab, topics: [...wanted.keys()], shown: !document.hidden });
}

/** Sends changes made in the same moment as one message. */
function wantsChanged(): void {
	if (told) return;
	told = true;
	queueMicrotask(tellWants);
}

function hear(message: FromHub): void {
	if (message.kind === 'who') return wantsChanged();
	for (const fn of listeners.get(message.kind) ?? []) (fn as (data: unknown) => void)(message.data);
}

function begin(): void {
	say = reachHub(tab, hear);
	setInterval(() => say!({ say: 'alive', tab }), ALIVE_MS);
	addEventListener('pagehide', () => say!({ say: 'bye', tab }));
	addEventListener('pageshow', (e) => (e as PageTransitionEvent).persisted && wantsChanged());
	document.addEventListener('visibilitychange', wantsChanged);
}

/** Delivers messages of @topics to this tab. Returns a function that ends this. */
export function watch(topics: Topic[]): () => void {
	if (!say) begin();
	for (const topic of topics) wanted.set(topic, (wanted.get(topic) ?? 0) + 1);
	wantsChanged();
	let ended = false;
	return () => {
		if (ended) return;
		ended = true;
		for (const topic of topics) {
			const left = wanted.get(topic)! - 1;
			if (left) wanted.set(topic, left);
			else wanted.delete(topic);
		}
		wantsChanged();
	};
}

/** Calls @fn for each message of @kind, on any topic. Returns a function that ends this. */
export function on<K extends LiveKind>(kind: K, fn: (data: LiveEvents[K]) => void): () => void {
	const known = listeners.get(kind) ?? new Set();
	listeners.set(kind, known.add(fn as Listener));
	return () => known.delete(fn as Listener);
}

/* How a tab reaches the hub: in a SharedWorker; without SharedWorker, in the tab that holds a lock,
 * which talks to the others over a BroadcastChannel; without locks, every tab has its own hub. */
import { Hub } from './live_hub';
import type { FromHub, FromTab } from './live_protocol';

const NAME = 'tacho live';

type Hear = (message: FromHub) => void;
type Say = (message: FromTab) => void;

function sharedWorker(hear: Hear): Say {
	const worker = new SharedWorker(new URL('./live_worker.ts', import.meta.url), {
		type: 'module',
		name: NAME,
	});
	worker.port.onmessage = (e: MessageEvent<FromHub>) => hear(e.data);
	return (message) => worker.port.postMessage(message);
}

/** Clones messages, as a port would: tabs must not change the hub's data. */
function copied(hear: Hear): Hear {
	return (message) => hear(structuredClone(message));
}

/** A message to the hub, or from the hub to one tab (`to`) or to all (null). */
type Broadcast = { ask: FromTab } | { to: string | null; message: FromHub };

/** The tab that holds the lock runs the hub. When it closes, the next one starts a new hub. */
function elected(tab: string, hear: Hear): Say {
	const channel = new BroadcastChannel(NAME);
	let hub: Hub | null = null;
	const post = (to: string): Hear =>
		to === tab
			? copied(hear)
			: (message) => channel.postMessage({ to, message } satisfies Broadcast);
	channel.onmessage = ({ data }: MessageEvent<Broadcast>) => {
		if ('ask' in data) hub?.hear(data.ask, post(data.ask.tab));
		else if (data.to === tab || data.to === null) hear(data.message);
	};
	void navigator.locks.request(NAME, () => {
		hub = new Hub();
		const who: FromHub = { kind: 'who', data: null };
		channel.postMessage({ to: null, message: who } satisfies Broadcast);
		hear(who);
		return new Promise<never>(() => {});
	});
	return (message) => {
		if (hub) hub.hear(message, post(tab));
		else channel.postMessage({ ask: message } satisfies Broadcast);
	};
}

function alone(hear: Hear): Say {
	const hub = new Hub();
	return (message) => hub.hear(message, copied(hear));
}

export function reachHub(tab: string, hear: Hear): Say {
	try {
		if (typeof SharedWorker !== 'undefined') return sharedWorker(hear);
	} catch {
		// Browsers that deny this page storage throw here: its tabs cannot share anything.
		return alone(hear);
	}
	// Locks exist on secure pages only.
	return 'locks' in navigator ? elected(tab, hear) : alone(hear);
}

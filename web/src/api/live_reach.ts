/* How a tab reaches the hub: in a SharedWorker; where there is none, in one of the tabs, which holds a
 * lock and talks to the others by broadcast; where there are no locks either, each tab has its own. */
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

/** As if it came from elsewhere: what the hub keeps is not for tabs to change. */
function copied(hear: Hear): Hear {
	return (message) => hear(structuredClone(message));
}

/** To the hub, or to one tab or all of them. */
type Broadcast = { ask: FromTab } | { to: string | null; message: FromHub };

/** The tab that has the lock has the hub. When it goes, the next one begins anew. */
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
		// Browsers that keep nothing for this page let tabs share nothing either.
		return alone(hear);
	}
	// Locks exist on secure pages only.
	return 'locks' in navigator ? elected(tab, hear) : alone(hear);
}

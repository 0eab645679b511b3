/* The hub of all tabs, in a SharedWorker. */
import { Hub } from './live_hub';
import type { FromTab } from './live_protocol';

const hub = new Hub();

(self as unknown as SharedWorkerGlobalScope).onconnect = (e: MessageEvent) => {
	const port = e.ports[0]!;
	port.onmessage = ({ data }: MessageEvent<FromTab>) =>
		hub.hear(data, (message) => port.postMessage(message));
};

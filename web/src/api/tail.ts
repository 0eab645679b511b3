/* The last KEEP bytes of a long text. Reads all of it; returns "" beyond MOST bytes. */
import { apiPath, type Query } from './client';

const KEEP = 8192;
const MOST = 16 << 20;

export async function tailOfText(path: string, query: Query, signal: AbortSignal): Promise<string> {
	const answer = await fetch(apiPath(path, query), { credentials: 'same-origin', signal });
	if (!answer.ok || !answer.body) return '';
	const reader = answer.body.getReader();
	let kept = new Uint8Array(0);
	for (let all = 0; all < MOST;) {
		const { done, value } = await reader.read();
		if (done) return new TextDecoder().decode(kept);
		all += value.length;
		const both = new Uint8Array(kept.length + value.length);
		both.set(kept);
		both.set(value, kept.length);
		kept = both.slice(-KEEP);
	}
	await reader.cancel();
	return '';
}

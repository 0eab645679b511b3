/* Keeps the newest news of runs, as answers and live messages may overtake each other. */
import type { Run } from '../../api/types';

export function isLive(r: Run): boolean {
	return r.state === 'running';
}

export function hasEnded(r: Run): boolean {
	return r.state !== 'running' && r.state !== 'queued';
}

/** More than the number of ends that can be on their way at once. */
const KEPT = 200;

/** An ended run never runs again: a message that says so is older, even if it comes later. */
export class RunNews {
	private readonly ended = new Map<string, Run>();

	/** Returns @r, or newer news of the same run. */
	newest(r: Run): Run {
		if (!hasEnded(r)) return this.ended.get(r.uuid) ?? r;
		this.ended.delete(r.uuid);
		this.ended.set(r.uuid, r);
		if (this.ended.size > KEPT) this.ended.delete(this.ended.keys().next().value!);
		return r;
	}
}

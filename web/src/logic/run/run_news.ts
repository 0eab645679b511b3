/* What is heard of runs, by answers and by the live stream, which overtake each other. */
import type { Run } from '../../api/types';

export function isLive(r: Run): boolean {
	return r.state === 'running';
}

export function hasEnded(r: Run): boolean {
	return r.state !== 'running' && r.state !== 'queued';
}

/** As many ends as can be on their way at once, and more. */
const KEPT = 200;

/** A run that has ended does not run again: what says so is older, however late it comes. */
export class RunNews {
	private readonly ended = new Map<string, Run>();

	/** @r, or what was heard of it that is newer. */
	newest(r: Run): Run {
		if (!hasEnded(r)) return this.ended.get(r.uuid) ?? r;
		this.ended.delete(r.uuid);
		this.ended.set(r.uuid, r);
		if (this.ended.size > KEPT) this.ended.delete(this.ended.keys().next().value!);
		return r;
	}
}

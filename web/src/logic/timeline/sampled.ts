/* Which events a run has samples of, and by which of them two runs can be compared. */
import type { OpenedEvent, Run } from '../../api/types';

export type Sampled = Pick<Run, 'opened_events'>;

/** In the order requested. The server says which one is shown by default. */
export function sampledEvents(r: Sampled): string[] {
	const of = (e: OpenedEvent) => e.sampled && e.supported !== false;
	return [...new Set((r.opened_events ?? []).filter(of).map((e) => e.name))];
}

export function takesSamples(r: Run): boolean {
	return r.tool !== 'stat' || r.samples > 0 || sampledEvents(r).length > 0;
}

/** Events that both runs have samples of. */
export function commonEvents(before: Sampled, after: Sampled): string[] {
	const other = new Set(sampledEvents(after));
	return sampledEvents(before).filter((name) => other.has(name));
}

/** The chosen event, if both runs have samples of it; null: the server chooses. */
export function comparedEvent(
	before: Sampled,
	after: Sampled,
	chosen: string | null,
): string | null {
	return chosen && commonEvents(before, after).includes(chosen) ? chosen : null;
}

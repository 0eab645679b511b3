/* Which events a run has samples of, and which of them two runs can be compared by. */
import type { OpenedEvent, Run } from '../../api/types';

export type Sampled = Pick<Run, 'opened_events'>;

/** In the order in which they were asked for. Which of them is shown if none is named, the server says. */
export function sampledEvents(r: Sampled): string[] {
	const of = (e: OpenedEvent) => e.sampled && e.supported !== false;
	return [...new Set((r.opened_events ?? []).filter(of).map((e) => e.name))];
}

export function takesSamples(r: Run): boolean {
	return r.tool !== 'stat' || r.samples > 0 || sampledEvents(r).length > 0;
}

/** Events that both have. */
export function commonEvents(before: Sampled, after: Sampled): string[] {
	const other = new Set(sampledEvents(after));
	return sampledEvents(before).filter((name) => other.has(name));
}

/** The chosen event, if both can be compared by it. null: the server is to choose. */
export function comparedEvent(
	before: Sampled,
	after: Sampled,
	chosen: string | null,
): string | null {
	return chosen && commonEvents(before, after).includes(chosen) ? chosen : null;
}

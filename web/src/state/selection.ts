/* The selection: the run of the address, the window and the filters, as parameters of a question.
 * Every view below the timeline asks with these, so they all follow the brush. */
import { computed } from '@preact/signals';
import type { Query } from '../api/client';
import type { Window } from '../logic/address';
import { commonEvents, comparedEvent, sampledEvents } from '../logic/timeline/sampled';
import { address } from './address';
import { liveRun } from './live';
import type { Question } from './questions';
import { isLive, run, runOf } from './runs';

/** How often a view asks again about a run that goes on. */
export const LIVE_AGAIN_MS = 1000;

export const filters = computed<Query>(() => {
	const { event, threads, pids, cpus, frames } = address.value;
	return { event, threads, pids, cpus, frames };
});

export function windowQuery(w: Window | null): Query {
	return w ? { from: Math.round(w.from), to: Math.round(w.to) } : {};
}

/** While a run goes on, all views show the event of its live graph, even if another one is about to
 * have more samples. null: the server chooses, by the same rule for every question. */
const growingEvent = computed<string | null>(() => {
	const r = run.value;
	if (!r || !isLive(r)) return null;
	const live = liveRun(r.uuid);
	void live.version.value;
	return live.shownEvent;
});

/** A question about the selection: selected('flame', {mode: 'inverted'}). */
export function selected(kind: string, more: Query = {}, columns = false): Question | null {
	const r = run.value;
	if (!r || r.state === 'queued') return null;
	return {
		path: `benchmark/${r.uuid}/${kind}`,
		query: {
			...windowQuery(address.value.window),
			...filters.value,
			event: address.value.event ?? growingEvent.value,
			...more,
		},
		columns,
		again: isLive(r) ? LIVE_AGAIN_MS : undefined,
	};
}

/** One side of a comparison as parameters: `before_from`, `before_to` … */
export function sideQuery(name: 'before' | 'after', w: Window | null, only: Query = {}): Query {
	const query = { ...windowQuery(w), ...only };
	return Object.fromEntries(Object.entries(query).map(([key, value]) => [`${name}_${key}`, value]));
}

/** The event by which runs A and B are compared, and the events to choose from. `event` is null if
 * none was chosen, or one that not both have: the server then chooses and says which. */
export const compared = computed<{ event: string | null; events: string[] }>(() => {
	const { run: uuid, window, second, a, b, event } = address.value;
	const [before, after] = uuid && window && second ? [uuid, uuid] : [a, b];
	const sides = [runOf(before), runOf(after)];
	if (!sides[0] || !sides[1]) return { event, events: [] };
	return {
		event: comparedEvent(sides[0], sides[1], event),
		events: commonEvents(sides[0], sides[1]),
	};
});

/** The two sides of a comparison, or null: two windows of this run, or runs A and B. */
export const comparison = computed<Query | null>(() => {
	const { run: uuid, window, second, a, b, frames } = address.value;
	if (uuid && window && second) {
		const only = filters.value;
		return {
			before: uuid,
			after: uuid,
			...sideQuery('before', window, only),
			...sideQuery('after', second, only),
		};
	}
	if (!a || !b) return null;
	// A brush belongs to the run that it was made on; so do threads and CPUs.
	const only = { frames, event: compared.value.event };
	return {
		before: a,
		after: b,
		...sideQuery('before', a === uuid ? window : null, only),
		...sideQuery('after', b === uuid ? window : null, only),
	};
});

/** The side of a comparison that a table does not show itself. */
interface OtherSide {
	question: Question;
	/** True if the other side is "before", false if it is "after". */
	before: boolean;
	/** "the second window", "run B" */
	name: string;
}

/** The second window, or the run pinned as the other of A and B; null if there is none. @of is the
 * event of this side's answer, null until that has arrived. */
export function otherSide(kind: string, of: string | null, more: Query = {}): OtherSide | null {
	const { run: uuid, window, second, a, b, frames } = address.value;
	if (!uuid) return null;
	if (window && second) {
		const query = { ...windowQuery(second), ...filters.value, ...more };
		const question = { path: `benchmark/${uuid}/${kind}`, query };
		return { question, before: false, name: 'the second window' };
	}
	const other = b && b !== uuid ? b : a && a !== uuid ? a : null;
	if (!other) return null;
	const theirs = runOf(other);
	// Shares of different events cannot be compared.
	if (!of || (theirs && !sampledEvents(theirs).includes(of))) return null;
	const query = { event: of, frames, ...more };
	const question = { path: `benchmark/${other}/${kind}`, query };
	return { question, before: other !== b, name: other === b ? 'run B' : 'run A' };
}

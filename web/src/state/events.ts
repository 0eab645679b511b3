/* Search in the events of the machine while the user types. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { get } from '../api/client';
import type { EventInfo, Events } from '../api/types';
import { countGroups, type EventGroup, type GroupCount } from '../logic/run/event_groups';

const PAUSE_MS = 120;
/** The server's largest page. */
const PAGE = 1000;

export interface EventSearch {
	events: EventInfo[];
	/** Matches by kind of event, whichever kind is shown. */
	counts: GroupCount[];
	/** There are more matches than `counts` says. */
	countsOpen: boolean;
	problems: string[];
	loading: boolean;
	error: Error | null;
	/** Loads the next page; null if there is none. */
	more: (() => void) | null;
}

const NOTHING: Omit<EventSearch, 'more'> & { next: string | null } = {
	events: [],
	counts: [],
	countsOpen: false,
	problems: [],
	loading: true,
	error: null,
	next: null,
};

/** Events that were listed, by name: chips show their details. */
const known = new Map<string, EventInfo>();

export function eventInfo(name: string): EventInfo | undefined {
	return known.get(name);
}

function keep(events: EventInfo[]): void {
	for (const e of events) known.set(e.name, e);
}

async function ask(search: string, group: EventGroup | null, signal: AbortSignal) {
	const all = get<Events>('emap', { search, limit: PAGE }, signal);
	const some = group ? get<Events>('emap', { search, group, limit: PAGE }, signal) : all;
	const [everything, page] = await Promise.all([all, some]);
	keep(page.events);
	return {
		events: page.events,
		next: page.next,
		problems: page.problems,
		counts: countGroups(everything.events),
		countsOpen: everything.next !== null,
		loading: false,
		error: null,
	};
}

export function useEventSearch(
	search: string,
	group: EventGroup | null,
	wanted: boolean,
): EventSearch {
	const [found, setFound] = useState(NOTHING);
	const loadingMore = useRef(false);
	const began = useRef(false);
	useEffect(() => {
		if (!wanted) return;
		const abort = new AbortController();
		const start = async () => {
			setFound((old) => ({ ...old, loading: true }));
			try {
				setFound(await ask(search.trim(), group, abort.signal));
			} catch (e) {
				if (!abort.signal.aborted) setFound({ ...NOTHING, loading: false, error: e as Error });
			}
		};
		// Wait until the user stops typing; the first search starts at once.
		const timer = setTimeout(start, began.current ? PAUSE_MS : 0);
		began.current = true;
		return () => {
			clearTimeout(timer);
			abort.abort();
			loadingMore.current = false;
		};
	}, [search, group, wanted]);
	const { next, ...rest } = found;
	const more = async () => {
		if (loadingMore.current) return;
		loadingMore.current = true;
		try {
			const query = { search: search.trim(), group, limit: PAGE, before: next };
			const page = await get<Events>('emap', query);
			keep(page.events);
			setFound((old) =>
				old.next === next
					? { ...old, events: [...old.events, ...page.events], next: page.next }
					: old,
			);
		} catch {
			// Scrolling further asks again.
		}
		loadingMore.current = false;
	};
	return { ...rest, more: next === null ? null : () => void more() };
}

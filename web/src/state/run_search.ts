/* Search in the runs of a session: at once in the loaded ones, a moment later in all. */
import { computed, effect, signal } from '@preact/signals';
import { get } from '../api/client';
import type { Run, Session } from '../api/types';
import { matches } from '../logic/run/run_list';
import { hasMore, runs, session } from './runs';
import { tell } from './toasts';

const PAUSE_MS = 150;
const PAGE = 200;

export const runSearch = signal('');
/** Matches among the runs that are not loaded, found by the server. */
const older = signal<Run[]>([]);

/** Newest first. */
export const foundRuns = computed<Run[]>(() => {
	const words = runSearch.value.trim();
	if (!words) return runs.value;
	const loaded = new Set(runs.value.map((r) => r.uuid));
	return [
		...runs.value.filter((r) => matches(r, words)),
		...older.value.filter((r) => !loaded.has(r.uuid)),
	];
});

effect(() => {
	const search = runSearch.value.trim();
	const uuid = session.value?.uuid;
	older.value = [];
	if (!search || !uuid || !hasMore.value) return;
	const abort = new AbortController();
	const timer = setTimeout(async () => {
		try {
			const query = { search, limit: PAGE };
			older.value = (await get<Session>('session/' + uuid, query, abort.signal)).runs;
		} catch (e) {
			tell(e);
		}
	}, PAUSE_MS);
	return () => {
		clearTimeout(timer);
		abort.abort();
	};
});

// Opening another session clears the search.
let of: string | undefined;
effect(() => {
	const uuid = session.value?.uuid;
	if (uuid !== of) runSearch.value = '';
	of = uuid;
});

/* The open session, its runs, and the actions on them. */
import { quoted } from '../logic/format';
import { computed, effect, signal, untracked } from '@preact/signals';
import { get, send } from '../api/client';
import type { Plan, Run, Session, SessionHead } from '../api/types';
import { hasEnded, isLive, RunNews } from '../logic/run/run_news';
import { runName } from '../logic/run/run_words';
import { address, go } from './address';
import { forget } from './questions';
import { onReturn } from './server';
import { tell } from './toasts';
import { deleteWithUndo, gone } from './undo';

const PAGE = 50;

export { hasEnded, isLive };
const news = new RunNews();

/** The session of the address, null while it loads; its runs are in `runs`. */
export const session = signal<Omit<SessionHead, 'runs'> | null>(null);
/** Why the session of the address cannot be shown. */
const sessionProblem = signal<Error | null>(null);
/** Why runs that were asked for cannot be shown. */
const runProblems = signal<ReadonlyMap<string, Error>>(new Map());

/** Loaded runs of the session, newest first; `elsewhere`: runs that were looked up by uuid. */
const loaded = signal<Run[]>([]);
const elsewhere = signal<ReadonlyMap<string, Run>>(new Map());
const asked = new Set<string>();
/** Where the next page of runs begins. */
const next = signal<string | null>(null);

/** Newest first, without deleted runs. */
export const runs = computed<Run[]>(() =>
	loaded.value.filter((r) => !gone.value.has('benchmark/' + r.uuid)),
);
export const hasMore = computed(() => next.value !== null);

/** Finds a run of any session. Requests an unknown one and returns null until it arrives. */
export function runOf(uuid: string | null): Run | null {
	if (!uuid) return null;
	const known = loaded.value.find((r) => r.uuid === uuid) ?? elsewhere.value.get(uuid);
	if (!known && !asked.has(uuid)) {
		asked.add(uuid);
		get<Run>('benchmark/' + uuid)
			.then(learn)
			.catch((e: Error) => {
				runProblems.value = new Map(runProblems.peek()).set(uuid, e);
			});
	}
	return known ?? null;
}

/** The run of the address. */
export const run = computed<Run | null>(() => {
	const { run: uuid } = address.value;
	return uuid && gone.value.has('benchmark/' + uuid) ? null : runOf(uuid);
});

/** Why the session or the run of the address cannot be shown. */
export const problem = computed<Error | null>(() => {
	const { run: uuid } = address.value;
	if (run.value) return null;
	if (uuid && gone.value.has('benchmark/' + uuid)) return new Error('This run was deleted.');
	return (uuid && runProblems.value.get(uuid)) || sessionProblem.value;
});

/** Asks again for the session or run that could not be shown. */
export function tryProblemAgain(): void {
	asked.clear();
	sessionProblem.value = null;
	runProblems.value = new Map();
	const { run: uuid } = address.peek();
	if (uuid) runOf(uuid);
	void refresh();
}

/** Takes a run from a message or an answer. A new run of the open session is put in front. */
export function learn(heard: Run): void {
	const r = news.newest(heard);
	const before = loaded.peek().find((x) => x.uuid === r.uuid);
	// Answers from while the run went on are outdated.
	if (before && before.state !== r.state && hasEnded(r)) forget(r.uuid);
	if (before) loaded.value = loaded.peek().map((x) => (x.uuid === r.uuid ? r : x));
	else if (r.session === session.peek()?.uuid && isNewest(r)) loaded.value = [r, ...loaded.peek()];
	else if (asked.has(r.uuid)) elsewhere.value = new Map(elsewhere.peek()).set(r.uuid, r);
}

/** Older runs must come in pages, in their order. */
function isNewest(r: Run): boolean {
	const first = loaded.peek()[0];
	return !first || r.created_at >= first.created_at;
}

/** A deleted run cannot be compared with. */
function unpin(uuid: string): void {
	const { a, b } = address.peek();
	if (a === uuid) go({ a: null }, true);
	if (b === uuid) go({ b: null }, true);
}

/** Forgets a deleted run. Leaves its address first, so that no view asks for the run again. */
export function unlearn(uuid: string): void {
	if (uuid === address.peek().run) go({ run: null }, true);
	unpin(uuid);
	forget(uuid);
	asked.delete(uuid);
	if (elsewhere.peek().has(uuid))
		elsewhere.value = new Map([...elsewhere.peek()].filter(([known]) => known !== uuid));
	loaded.value = loaded.peek().filter((r) => r.uuid !== uuid);
}

let abort: AbortController | null = null;

async function load(uuid: string): Promise<void> {
	abort?.abort();
	abort = new AbortController();
	try {
		const s = await get<Session>('session/' + uuid, { limit: PAGE }, abort.signal);
		const { runs: page, next: rest, ...head } = s;
		session.value = head;
		next.value = rest;
		loaded.value = page.map((r) => news.newest(r));
		sessionProblem.value = null;
		const now = address.peek();
		if (now.session === uuid && !now.run && page[0]) go({ run: page[0].uuid }, true);
	} catch (e) {
		if ((e as Error).name === 'AbortError') return;
		if (!session.peek()) sessionProblem.value = e as Error;
	}
}

/** Reloads the newest page, as messages may have been missed. Older pages are kept as they are. */
export async function refresh(): Promise<void> {
	const { session: uuid } = address.peek();
	if (!uuid) return;
	if (session.peek()?.uuid !== uuid) return load(uuid);
	try {
		const s = await get<Session>('session/' + uuid, { limit: PAGE });
		if (session.peek()?.uuid !== uuid) return;
		const { runs: page, next: rest, ...head } = s;
		session.value = head;
		const last = page[page.length - 1];
		const older = last ? loaded.peek().filter((r) => r.created_at < last.created_at) : [];
		loaded.value = [...page.map((r) => news.newest(r)), ...older];
		if (!older.length) next.value = rest;
	} catch {
		// The screen stays as it is; the banner says that the server is away.
	}
}

export async function loadMore(): Promise<void> {
	const { uuid } = session.peek() ?? {};
	const before = next.peek();
	if (!uuid || !before) return;
	const s = await get<Session>('session/' + uuid, { limit: PAGE, before });
	if (session.peek()?.uuid !== uuid || next.peek() !== before) return;
	const known = new Set(loaded.peek().map((r) => r.uuid));
	loaded.value = [...loaded.peek(), ...s.runs.filter((r) => !known.has(r.uuid))];
	next.value = s.next;
}

effect(() => {
	const { session: uuid } = address.value;
	if (uuid === (session.peek()?.uuid ?? null)) return;
	session.value = null;
	loaded.value = [];
	next.value = null;
	sessionProblem.value = null;
	runProblems.value = new Map();
	asked.clear();
	abort?.abort();
	if (uuid) untracked(() => void load(uuid));
});

// A link may name only the run, or the wrong session.
effect(() => {
	const r = run.value;
	if (r && r.session !== address.value.session) go({ session: r.session }, true);
});

onReturn(() => (problem.peek() ? tryProblemAgain() : void refresh()));

export async function startRun(sessionId: string, plan: Plan): Promise<Run> {
	const r = await send<Run>('POST', 'session/' + sessionId, plan);
	learn(r);
	return r;
}

/** Starts the run once more and opens the new run. */
export async function rerun(uuid: string): Promise<void> {
	try {
		const r = await send<Run>('POST', `benchmark/${uuid}/rerun`);
		learn(r);
		go({ run: r.uuid });
	} catch (e) {
		tell(e);
	}
}

export async function cancelRun(uuid: string): Promise<void> {
	try {
		learn(await send<Run>('POST', `benchmark/${uuid}/cancel`));
	} catch (e) {
		tell(e);
	}
}

/** Deletes @r when its "Undo" message is gone. If @r was open, the newest other run is opened. */
export function deleteRun(r: Run): void {
	const before = address.peek();
	deleteWithUndo('benchmark/' + r.uuid, `${quoted(runName(r))} was deleted`, () => {
		if (address.peek().session !== r.session) return;
		if (before.run === r.uuid) go(before, true);
		else go({ a: before.a, b: before.b }, true);
	});
	unpin(r.uuid);
	if (before.run === r.uuid) go({ run: runs.value[0]?.uuid ?? null }, true);
}

export async function changeWords(
	uuid: string,
	words: { note?: string | null; tags?: string[]; description?: string | null },
): Promise<void> {
	learn(await send<Run>('PATCH', 'benchmark/' + uuid, words));
}

export async function renameSession(uuid: string, title: string): Promise<void> {
	try {
		const {
			runs: _,
			next: __,
			...head
		} = await send<Session>('PATCH', 'session/' + uuid, {
			title,
		});
		if (session.peek()?.uuid === uuid) session.value = head;
	} catch (e) {
		tell(e);
	}
}

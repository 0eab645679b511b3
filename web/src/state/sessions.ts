/* All sessions, for the first screen and for switching between them. */
import { computed, signal } from '@preact/signals';
import { get, send } from '../api/client';
import type { Run, Session, SessionHead, Sessions } from '../api/types';
import { HOME } from '../logic/address';
import { dayAndTime, quoted } from '../logic/format';
import { address, go, goHome } from './address';
import { onReturn } from './server';
import { renameSession as rename, session } from './runs';
import { tell } from './toasts';
import { deleteWithUndo, gone } from './undo';

const PAGE = 60;

const loaded = signal<SessionHead[] | null>(null);
const next = signal<string | null>(null);
export const search = signal('');
export const sessionsProblem = signal<string | null>(null);

/** null while they load for the first time. */
export const sessions = computed(
	() => loaded.value?.filter((s) => !gone.value.has('session/' + s.uuid)) ?? null,
);
export const moreSessions = computed(() => next.value !== null);

/** The newest runs of a session, shown on its card. */
export const newest = signal<ReadonlyMap<string, Run[]>>(new Map());
const NEWEST = 4;

let turn = 0;

export async function loadSessions(): Promise<void> {
	const mine = ++turn;
	try {
		const page = await get<Sessions>('sessions', { limit: PAGE, search: search.peek() });
		if (mine !== turn) return;
		loaded.value = page.sessions;
		next.value = page.next;
		sessionsProblem.value = null;
	} catch (e) {
		if (mine === turn) sessionsProblem.value = (e as Error).message;
	}
}

export async function loadMoreSessions(): Promise<void> {
	const before = next.peek();
	if (!before) return;
	const mine = turn;
	const page = await get<Sessions>('sessions', { limit: PAGE, search: search.peek(), before });
	if (mine !== turn) return;
	loaded.value = [...(loaded.peek() ?? []), ...page.sessions];
	next.value = page.next;
}

/** Called when a card becomes visible, and again when the session has changed. */
export async function loadNewest(uuid: string): Promise<void> {
	try {
		const s = await get<Session>('session/' + uuid, { limit: NEWEST });
		newest.value = new Map(newest.peek()).set(uuid, s.runs);
	} catch {
		// The card is shown without runs.
	}
}

/** Creates a session with the time as its title and opens it. */
export function newSession(): void {
	addSession('Session of ' + dayAndTime(new Date()))
		.then((s) => go({ ...HOME, session: s.uuid }))
		.catch(tell);
}

export async function addSession(title: string): Promise<SessionHead> {
	const { uuid, created_at } = await send<Session>('POST', 'sessions', { title });
	const head = { uuid, title, created_at, runs: 0 };
	learnSession(head);
	return head;
}

export function learnSession(head: SessionHead): void {
	const known = loaded.peek();
	if (!known) return;
	if (known.some((s) => s.uuid === head.uuid))
		loaded.value = known.map((s) => (s.uuid === head.uuid ? head : s));
	// Only the server knows if an older session, or any while searching, belongs here.
	else if (!search.peek() && head.created_at >= (known[0]?.created_at ?? ''))
		loaded.value = [head, ...known];
}

export function unlearnSession(uuid: string): void {
	loaded.value = loaded.peek()?.filter((s) => s.uuid !== uuid) ?? null;
}

export async function renameSession(uuid: string, title: string): Promise<void> {
	const name = title.trim();
	if (!name) return;
	await rename(uuid, name);
	const known = loaded.peek();
	if (known) loaded.value = known.map((s) => (s.uuid === uuid ? { ...s, title: name } : s));
}

export function deleteSession(s: { uuid: string; title: string }): void {
	const before = address.peek();
	deleteWithUndo('session/' + s.uuid, `${quoted(s.title)} and its runs were deleted`, () => {
		if (before.session === s.uuid && !address.peek().session) go(before);
	});
	if (session.peek()?.uuid === s.uuid) goHome();
}

onReturn(() => {
	if (loaded.peek()) void loadSessions();
});

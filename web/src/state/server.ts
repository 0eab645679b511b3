/* The server: the user's rights there, whether it answers, and what it warns of. */
import { computed, signal } from '@preact/signals';
import { get, onAnswer } from '../api/client';
import type { Me, Run } from '../api/types';
import { nextPause } from '../logic/live/backoff';
import { mayChangeRun } from '../logic/run/owner';

export const me = signal<Me | null>(null);

/** Users who may only look see no buttons that start, change or delete. */
export const mayRun = computed(() => me.value !== null && me.value.role !== 'look');

/** Whether this run may be changed, cancelled and deleted from here. */
export function mayChange(run: Run): boolean {
	return mayChangeRun(me.value, run);
}

const hidden = signal('');

/** What a person should know of the state of the server: sentences that nobody has hidden yet. */
export const warnings = computed(() => {
	const all = me.value?.server.warnings ?? [];
	return all.join('\n') === hidden.value ? [] : all;
});

/** Until the server warns of something else. */
export function hideWarnings(): void {
	hidden.value = warnings.peek().join('\n');
}

/** 'lost': the server does not answer; 'refused': it does not accept our token (any more). */
export type Connection = 'ok' | 'lost' | 'refused';
export const connection = signal<Connection>('ok');
/** Time of the next try (Date.now()); 0: it is under way. */
export const retryAt = signal(0);

/** How often the server is asked for its warnings. */
const REFRESH_MS = 5000;

let attempts = 0;
let timer = 0;
const returned = new Set<() => void>();

/** Calls @fn when the server answers again after an outage, to load everything again. */
export function onReturn(fn: () => void): void {
	returned.add(fn);
}

async function introduce(): Promise<void> {
	try {
		me.value = await get<Me>('me');
	} catch {
		// onAnswer() has seen the reason. Retry: buttons stay hidden until `me` is known.
		if (connection.peek() === 'ok') plan();
	}
}

async function refresh(): Promise<void> {
	if (document.hidden || !me.peek() || connection.peek() !== 'ok') return;
	try {
		const found = await get<Me>('me');
		const before = me.peek()?.server.warnings ?? [];
		if (found.server.warnings.join('\n') !== before.join('\n')) me.value = found;
	} catch {
		// onAnswer() has seen the reason.
	}
}

function plan(): void {
	clearTimeout(timer);
	const pause = nextPause(attempts++);
	retryAt.value = Date.now() + pause;
	timer = window.setTimeout(retry, pause);
}

export function retry(): void {
	clearTimeout(timer);
	retryAt.value = 0;
	void introduce();
}

onAnswer((status) => {
	const before = connection.peek();
	// 502 to 504: a proxy answers, but the server itself does not.
	const now =
		status === 401 ? 'refused' : !status || (status >= 502 && status <= 504) ? 'lost' : 'ok';
	connection.value = now;
	if (now === 'lost' && (before !== 'lost' || !retryAt.peek())) plan();
	if (now !== 'ok' || before === 'ok') return;
	attempts = 0;
	clearTimeout(timer);
	if (!me.peek()) void introduce();
	for (const fn of returned) fn();
});

window.setInterval(() => void refresh(), REFRESH_MS);

window.addEventListener('online', () => {
	if (connection.peek() === 'lost') retry();
});

void introduce();

/* The server: who we are to it, and whether it answers. */
import { computed, signal } from '@preact/signals';
import { get, onAnswer } from '../api/client';
import type { Me } from '../api/types';
import { nextPause } from '../logic/live/backoff';

export const me = signal<Me | null>(null);

/** Users who may only look see no buttons that start, change or delete. */
export const mayRun = computed(() => me.value !== null && me.value.role !== 'look');

/** 'lost': it does not answer; 'refused': it does not know our token (any more). */
export type Connection = 'ok' | 'lost' | 'refused';
export const connection = signal<Connection>('ok');
/** When it is tried again, as Date.now() counts; 0: just now. */
export const retryAt = signal(0);

let attempts = 0;
let timer = 0;
const returned = new Set<() => void>();

/** @fn is called when the server answers again after it was away: ask anew. */
export function onReturn(fn: () => void): void {
	returned.add(fn);
}

async function introduce(): Promise<void> {
	try {
		me.value = await get<Me>('me');
	} catch {
		// onAnswer() has seen why. Without knowing who we are there are no buttons: it is asked again.
		if (connection.peek() === 'ok') plan();
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
	// 502 to 504: something in between answers, but the server itself does not.
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

window.addEventListener('online', () => {
	if (connection.peek() === 'lost') retry();
});

void introduce();

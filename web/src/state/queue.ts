/* Running and waiting runs of the whole server. */
import { computed, signal } from '@preact/signals';
import { get, send } from '../api/client';
import type { Queue, Run } from '../api/types';
import { learn } from './runs';
import { onReturn } from './server';
import { tell } from './toasts';
import { gone } from './undo';

const MOST = 100;

const loaded = signal<Queue>({ running: [], queued: [], next: null });
/** When `queue` was received (Date.now()): its seconds count from there. */
export const toldAt = signal(Date.now());

function shown(r: Run): boolean {
	return !gone.value.has('benchmark/' + r.uuid) && !gone.value.has('session/' + r.session);
}

export const queue = computed<Queue>(() => ({
	running: loaded.value.running.filter(shown),
	queued: loaded.value.queued.filter(shown),
	next: loaded.value.next,
}));

function take(q: Queue): void {
	loaded.value = q;
	toldAt.value = Date.now();
	for (const r of [...q.running, ...q.queued]) learn(r);
}

export async function loadQueue(): Promise<void> {
	try {
		take(await get<Queue>('queue', { limit: MOST }));
	} catch {
		// The known queue stays; the banner says that the server is away.
	}
}

/** Moves a waiting run in front of @before; null: to the end. */
async function moveInQueue(run: string, before: string | null): Promise<void> {
	try {
		take(await send<Queue>('PATCH', 'queue', { run, before }));
	} catch (e) {
		tell(e);
		await loadQueue();
	}
}

/** Moves a waiting run one place up (-1) or down (+1). */
export async function shift(uuid: string, by: -1 | 1): Promise<void> {
	const { queued } = queue.peek();
	const at = queued.findIndex((r) => r.uuid === uuid);
	const to = at + by;
	if (at < 0 || to < 0 || to >= queued.length) return;
	await moveInQueue(uuid, (by < 0 ? queued[to] : queued[to + 1])?.uuid ?? null);
}

onReturn(() => void loadQueue());
void loadQueue();

/* The session that is open, its runs, and what can be done with them. */
import { computed, signal } from '@preact/signals';
import { send } from '../api/client';
import type { Plan, Run, Session } from '../api/types';
import { address } from './address';

/** The session of the address, null while it loads; its runs are in `runs`. */
export const session = signal<Session | null>(null);
/** Newest first. */
export const runs = signal<Run[]>([]);
/** Why the session or the run of the address cannot be shown, for people. */
export const problem = signal<string | null>(null);

export const run = computed<Run | null>(
	() => runs.value.find((r) => r.uuid === address.value.run) ?? null,
);

export function isLive(r: Run): boolean {
	return r.state === 'running';
}

export function hasEnded(r: Run): boolean {
	return r.state !== 'running' && r.state !== 'queued';
}

/** A run as a message or an answer tells it: new ones are put in front. */
export function learn(r: Run): void {
	const known = runs.value.some((x) => x.uuid === r.uuid);
	if (known) runs.value = runs.value.map((x) => (x.uuid === r.uuid ? r : x));
	else if (r.session === session.value?.uuid) runs.value = [r, ...runs.value];
}

export async function startRun(sessionId: string, plan: Plan): Promise<Run> {
	const r = await send<Run>('POST', 'session/' + sessionId, plan);
	learn(r);
	return r;
}

export async function cancelRun(uuid: string): Promise<void> {
	learn(await send<Run>('POST', `benchmark/${uuid}/cancel`));
}

export async function changeWords(
	uuid: string,
	words: { note?: string | null; tags?: string[]; description?: string | null },
): Promise<void> {
	learn(await send<Run>('PATCH', 'benchmark/' + uuid, words));
}

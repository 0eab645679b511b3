/* Who may change, cancel and delete a run: whoever started it, and administrators. The server decides;
 * the page offers only what it would allow. */
import type { Me, Run } from '../../api/types';

export function mayChangeRun(
	who: Pick<Me, 'name' | 'role'> | null,
	run: Pick<Run, 'user'>,
): boolean {
	if (!who || who.role === 'look') return false;
	return who.role === 'administer' || run.user === who.name;
}

/** Why others may not. */
export function ownerWords(run: Pick<Run, 'user'>): string {
	return run.user
		? `Started by ${run.user}: only ${run.user} and administrators may change or delete it.`
		: 'Nobody knows who started it: only administrators may change or delete it.';
}

export const OTHERS_RUNS = 'It has runs of others: only administrators may rename or delete it.';

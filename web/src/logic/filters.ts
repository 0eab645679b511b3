/* What the selection is narrowed to besides its windows, which the timeline shows: as chips with a name,
 * a value, and what to change to be rid of it. */
import type { Address } from './address';

export interface Filter {
	key: string;
	name: string;
	value: string;
	/** What is gone with it. */
	clear: Partial<Address>;
}

export function filtersOf(a: Address): Filter[] {
	const out: Filter[] = [];
	const add = (key: string, name: string, value: string | null, clear: Partial<Address>) => {
		if (value) out.push({ key, name, value, clear });
	};
	add('event', 'Event', a.event, { event: null });
	add('threads', 'Thread', a.threads, { threads: null });
	add('pids', 'Process', a.pids, { pids: null });
	add('cpus', 'CPU', a.cpus, { cpus: null });
	add('frames', 'Function', a.frames, { frames: null });
	return out;
}

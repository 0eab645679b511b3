/* Filters of the selection as chips with a name, a value, and the change of the address that
 * removes them. Windows are not included: the timeline shows those. */
import type { Address } from './address';

export interface Filter {
	key: string;
	name: string;
	value: string;
	/** Removes the filter. */
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

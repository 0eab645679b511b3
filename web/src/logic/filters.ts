/* What the selection is narrowed to, as chips: a name, a value, and what to change to be rid of it. */
import type { Address, Window } from './address';
import { formatDuration, formatTime } from './units';

export interface Filter {
	key: string;
	name: string;
	value: string;
	/** What is gone with it. */
	clear: Partial<Address>;
}

function windowText(w: Window): string {
	const step = Math.max(1, (w.to - w.from) / 100);
	return `${formatTime(w.from, step)} – ${formatTime(w.to, step)} (${formatDuration(w.to - w.from)})`;
}

export function filtersOf(a: Address): Filter[] {
	const out: Filter[] = [];
	const add = (key: string, name: string, value: string | null, clear: Partial<Address>) => {
		if (value) out.push({ key, name, value, clear });
	};
	add('window', 'Window', a.window && windowText(a.window), { window: null, second: null });
	add('second', 'Compared with', a.second && windowText(a.second), { second: null });
	add('event', 'Event', a.event, { event: null });
	add('threads', 'Thread', a.threads, { threads: null });
	add('pids', 'Process', a.pids, { pids: null });
	add('cpus', 'CPU', a.cpus, { cpus: null });
	add('frames', 'Function', a.frames, { frames: null });
	return out;
}

/* Kinds of events, as they are shown. */
import type { EventInfo } from '../../api/types';
import { plural } from '../format';
import { unitWord } from '../units';

export type EventGroup = EventInfo['group'];

export const GROUP_NAMES: Record<EventGroup, { text: string; title: string }> = {
	hw: { text: 'Hardware', title: 'Counted by the CPU: cycles, instructions, branches' },
	sw: { text: 'Software', title: 'Counted by the kernel: time, page faults, context switches' },
	cache: { text: 'Cache', title: 'Hits and misses of the caches of the CPU' },
	pmu: { text: 'CPU specific', title: 'Further events of this model of CPU and its parts' },
	tracepoint: { text: 'Tracepoints', title: 'Places in the kernel that tell when they are passed' },
	sdt: { text: 'Program marks', title: 'Places that programs and libraries have marked' },
	probe: { text: 'Probes', title: 'Places that were chosen with perf probe' },
	raw: { text: 'By number', title: 'Codes and addresses that you fill in' },
};

export interface GroupCount {
	group: EventGroup;
	count: number;
}

/** How many of each kind there are, in the order above; kinds without any are left out. */
export function countGroups(events: EventInfo[]): GroupCount[] {
	const counts = new Map<EventGroup, number>();
	for (const e of events) counts.set(e.group, (counts.get(e.group) ?? 0) + 1);
	return (Object.keys(GROUP_NAMES) as EventGroup[])
		.filter((group) => counts.has(group))
		.map((group) => ({ group, count: counts.get(group)! }));
}

/** Whether the name is a form to be filled in: "rNNN", "mem:ADDR[/LEN][:rwx]". */
export function isForm(event: EventInfo): boolean {
	return event.group === 'raw' || event.available === null;
}

export function isAvailable(event: EventInfo): boolean {
	return event.available !== false;
}

/** The description of an event, and why it is not available. */
export function aboutEvent(e: EventInfo): string {
	const place =
		e.group === 'tracepoint' ? `passing a place in the kernel (${e.name.split(':')[0]})` : '';
	const parts = [e.description || place || GROUP_NAMES[e.group].title];
	if (e.unit) parts.push(`in ${unitWord(e.unit)}`);
	if (e.masks.length) parts.push(plural(e.masks.length, 'variant'));
	if (!isAvailable(e)) parts.unshift(`Not here: ${e.reason ?? 'it cannot be opened'}`);
	return parts.join(' · ');
}

/** Splits @text into parts; those that match a searched word are marked. */
export function markWords(text: string, search: string): { text: string; found: boolean }[] {
	const words = search
		.trim()
		.split(/\s+/)
		.filter(Boolean)
		.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
	if (!words.length) return [{ text, found: false }];
	return text
		.split(new RegExp(`(${words.join('|')})`, 'i'))
		.map((part, i) => ({ text: part, found: i % 2 === 1 }))
		.filter((part) => part.text);
}

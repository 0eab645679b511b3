/* Counts of things and points in time, in words. Quantities are in units.ts. */

/** 1 run, 2 runs. */
export function plural(count: number, one: string, many = one + 's'): string {
	return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** How long ago, or the day: "just now", "5 min ago", "yesterday", "12 Nov", "12 Nov 2025". */
export function formatAgo(at: string, now: Date): string {
	const then = new Date(at);
	const seconds = (now.getTime() - then.getTime()) / 1000;
	if (Number.isNaN(seconds)) return '';
	if (seconds < 45) return 'just now';
	if (seconds < 3570) return `${Math.max(1, Math.round(seconds / 60))} min ago`;
	if (seconds < 86400 && then.getDate() === now.getDate())
		return `${Math.round(seconds / 3600)} h ago`;
	const yesterday = new Date(now);
	yesterday.setDate(now.getDate() - 1);
	if (then.toDateString() === yesterday.toDateString()) return 'yesterday';
	const year = then.getFullYear() === now.getFullYear() ? undefined : ('numeric' as const);
	return then.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year });
}

function timeOfDay(at: Date): string {
	return at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}

/** "12 Nov, 12:03" */
export function dayAndTime(at: Date): string {
	return `${at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })}, ${timeOfDay(at)}`;
}

/** Within this time, the time of day alone cannot be mistaken for another day's. */
const RECENT_MS = 12 * 3600e3;

/** "12:03" within the last hours, otherwise "12 Nov, 12:03". */
export function clockTime(at: string, now: Date): string {
	const then = new Date(at);
	if (Number.isNaN(then.getTime())) return '';
	const recent = Math.abs(now.getTime() - then.getTime()) < RECENT_MS;
	return recent ? timeOfDay(then) : dayAndTime(then);
}

/** A name within a sentence. Isolated: a right-to-left name must not reorder the sentence. */
export function quoted(name: string): string {
	return `“\u2068${name}\u2069”`;
}

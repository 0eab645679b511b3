/* Numbers and times as people read them. */

const SIGNIFICANT = 3;

/** 1234.5 → "1,230"; three digits are enough to compare by eye. */
function digits(value: number): string {
	const size = Math.abs(value);
	if (size >= 100) return Math.round(value).toLocaleString('en');
	return String(Number(value.toPrecision(SIGNIFICANT)));
}

/** Seconds: "1.5 ms", "12 s", "3 min 20 s", "2 h 5 min". */
export function formatSeconds(seconds: number): string {
	if (!Number.isFinite(seconds)) return '–';
	const size = Math.abs(seconds);
	if (size === 0) return '0 s';
	if (size < 999.5e-9) return digits(seconds * 1e9) + ' ns';
	if (size < 999.5e-6) return digits(seconds * 1e6) + ' µs';
	if (size < 0.9995) return digits(seconds * 1e3) + ' ms';
	if (size < 59.95) return digits(seconds) + ' s';
	const whole = Math.round(size);
	const sign = seconds < 0 ? '-' : '';
	const minutes = Math.floor(whole / 60);
	if (minutes < 60) return `${sign}${minutes} min${whole % 60 ? ` ${whole % 60} s` : ''}`;
	const hours = Math.floor(minutes / 60);
	return `${sign}${hours} h${minutes % 60 ? ` ${minutes % 60} min` : ''}`;
}

export function formatNs(ns: number): string {
	return formatSeconds(ns / 1e9);
}

/** 1234567 → "1.23 M"; below ten thousand as it is: "9,876". */
export function formatCount(value: number): string {
	if (!Number.isFinite(value)) return '–';
	const size = Math.abs(value);
	if (size < 10000) return size < 100 ? digits(value) : Math.round(value).toLocaleString('en');
	for (const [unit, name] of [
		[1e12, 'T'],
		[1e9, 'G'],
		[1e6, 'M'],
	] as const)
		if (size >= unit * 0.9995) return digits(value / unit) + ' ' + name;
	return digits(value / 1e3) + ' k';
}

/** 1536 → "1.5 KiB". */
export function formatBytes(bytes: number): string {
	const names = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
	let value = bytes;
	let at = 0;
	while (Math.abs(value) >= 1023.5 && at < names.length - 1) {
		value /= 1024;
		at++;
	}
	return digits(value) + ' ' + names[at];
}

/** 0.1234 → "12.3 %". */
export function formatShare(part: number): string {
	if (!Number.isFinite(part)) return '–';
	const percent = part * 100;
	if (percent > 0 && percent < 0.05) return '< 0.1 %';
	return percent.toFixed(1) + ' %';
}

/** 1 run, 2 runs. */
export function plural(count: number, one: string, many = one + 's'): string {
	return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** How long ago, or the day: "just now", "5 min ago", "3 h ago", "yesterday", "12 Nov", "12 Nov 2025". */
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

/** "12:03" of the same day, otherwise "12 Nov, 12:03". */
export function formatTime(at: string, now: Date): string {
	const then = new Date(at);
	if (Number.isNaN(then.getTime())) return '';
	const time = then.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
	if (then.toDateString() === now.toDateString()) return time;
	return `${then.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })}, ${time}`;
}

/* Numbers for people: counts, rates, bytes, times. Pure; used by every view, so that one thing has
 * one look everywhere. Three digits, enough to compare by eye, then a space and the unit. */

/** How values of one counter are shown: value × factor, then the prefix (k, M, …) and `suffix`. */
export interface Unit {
	factor: number;
	suffix: string;
	/** `si`: 1.2 M; `bytes`: 1.2 MB; `plain`: 0.98, never with a prefix. */
	style: 'si' | 'bytes' | 'plain';
	/** What the unit means, for a title. */
	about: string;
}

const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
const SMALL_PREFIXES = ['', 'm', 'µ', 'n'];

/** Three significant digits without an exponent: 1234 → "1230", 12.345 → "12.3", 0.5 → "0.5". */
function threeDigits(value: number): string {
	const size = Math.abs(value);
	if (size >= 100) return value.toFixed(0);
	const digits = size >= 10 ? 1 : size >= 1 ? 2 : 3;
	return value.toFixed(digits).replace(/\.?0+$/, '');
}

/** The power of 1000 that leaves 1…999.5 before the prefix. */
function thousands(size: number): number {
	let power = 0;
	while (size >= 999.5 && power < PREFIXES.length - 1) {
		size /= 1000;
		power++;
	}
	return power;
}

/** 0 → ["0", ""], 12345 → ["12.3", "k"], 0.00012 → ["0.12", "m"] */
function scaled(value: number): [string, string] {
	const size = Math.abs(value);
	if (size === 0 || size >= 0.01) {
		const power = thousands(size);
		return [threeDigits(value / 1000 ** power), PREFIXES[power]!];
	}
	let power = 0;
	while (power < SMALL_PREFIXES.length - 1 && size * 1000 ** power < 0.1) power++;
	return [threeDigits(value * 1000 ** power), SMALL_PREFIXES[power]!];
}

/** 1234567 → "1.23 M". */
export function formatCount(value: number): string {
	if (!Number.isFinite(value)) return '–';
	const [digits, prefix] = scaled(value);
	return prefix ? `${digits} ${prefix}` : digits;
}

/** 1500000 → "1.5 MB". */
export function formatBytes(value: number): string {
	if (!Number.isFinite(value)) return '–';
	const power = thousands(Math.abs(value));
	return `${threeDigits(value / 1000 ** power)} ${PREFIXES[power]}B`;
}

/** A part of a whole: 0.1234 → "12.3 %". */
export function formatShare(part: number): string {
	if (!Number.isFinite(part)) return '–';
	const percent = part * 100;
	if (percent !== 0 && Math.abs(percent) < 0.01) return percent < 0 ? '> −0.01 %' : '< 0.01 %';
	return `${Math.abs(percent) >= 10 ? percent.toFixed(1) : percent.toFixed(2)} %`;
}

/** A value of a counter, times its factor: "1.2 M/s", "0.98 CPUs", "12 MB/s". */
export function formatValue(raw: number | null | undefined, unit: Unit): string {
	if (raw === null || raw === undefined || !Number.isFinite(raw)) return '–';
	const value = raw * unit.factor;
	if (unit.style === 'bytes') return formatBytes(value) + unit.suffix;
	const [digits, prefix] = unit.style === 'si' ? scaled(value) : [threeDigits(value), ''];
	if (unit.suffix.startsWith('/'))
		return prefix ? `${digits} ${prefix}${unit.suffix}` : digits + unit.suffix;
	const word = prefix + unit.suffix;
	return word ? `${digits} ${word}` : digits;
}

/** A single value of @unit; times come in the unit that suits them: "281 µs", "1.5 s". */
export function formatAmount(raw: number, unit: Unit): string {
	if (unit.suffix === 's') return formatDuration(raw * unit.factor * 1e9);
	return formatValue(raw, unit);
}

const TIME_IN_S: Record<string, number> = {
	nsec: 1e-9,
	ns: 1e-9,
	usec: 1e-6,
	us: 1e-6,
	msec: 1e-3,
	ms: 1e-3,
	sec: 1,
	s: 1,
};

const SHORT: Record<string, string> = { nsec: 'ns', usec: 'µs', msec: 'ms', sec: 's' };

/** A unit of the server, as this page writes it. */
export function unitWord(unit: string): string {
	return SHORT[unit] ?? unit;
}

const BYTES_OF: Record<string, number> = {
	b: 1,
	byte: 1,
	bytes: 1,
	kb: 1e3,
	mb: 1e6,
	gb: 1e9,
	kib: 2 ** 10,
	mib: 2 ** 20,
	gib: 2 ** 30,
};

/** The unit of @name's rate. A second of CPU time a second is one CPU kept busy. */
export function rateUnit(name: string, unit: string | null, scale: number): Unit {
	const word = (unit ?? '').toLowerCase();
	const seconds = TIME_IN_S[word];
	if (seconds !== undefined)
		return /(^|\/|:)(task|cpu)-clock/.test(name)
			? {
					factor: scale * seconds,
					suffix: 'CPUs',
					style: 'plain',
					about: 'how many CPUs were kept busy',
				}
			: { factor: scale * seconds, suffix: 's/s', style: 'si', about: 'seconds a second' };
	const bytes = BYTES_OF[word];
	if (bytes !== undefined)
		return { factor: scale * bytes, suffix: '/s', style: 'bytes', about: 'bytes a second' };
	if (word === 'joules' || word === 'joule')
		return { factor: scale, suffix: 'W', style: 'si', about: 'joules a second' };
	if (unit) return { factor: scale, suffix: unit + '/s', style: 'si', about: unit + ' a second' };
	return { factor: scale, suffix: '/s', style: 'si', about: 'how many a second' };
}

/** The unit of plain values, such as sums and weights. */
export function sumUnit(unit: string | null, scale: number): Unit {
	const word = (unit ?? '').toLowerCase();
	const seconds = TIME_IN_S[word];
	if (seconds !== undefined)
		return { factor: scale * seconds, suffix: 's', style: 'si', about: 'seconds' };
	const bytes = BYTES_OF[word];
	if (bytes !== undefined)
		return { factor: scale * bytes, suffix: '', style: 'bytes', about: 'bytes' };
	if (word === 'joules' || word === 'joule')
		return { factor: scale, suffix: 'J', style: 'si', about: 'joules' };
	return { factor: scale, suffix: unit ?? '', style: 'si', about: unit ?? 'how many' };
}

/** Samples a second. */
export const SAMPLE_RATE: Unit = {
	factor: 1,
	suffix: '/s',
	style: 'si',
	about: 'samples a second',
};

/** How long: 1800000000 → "1.8 s", 90e9 → "1 min 30 s". */
export function formatDuration(ns: number): string {
	if (!Number.isFinite(ns)) return '–';
	const size = Math.abs(ns);
	if (!size) return '0 s';
	if (size < 999.5) return `${threeDigits(ns)} ns`;
	if (size < 999.5e3) return `${threeDigits(ns / 1e3)} µs`;
	if (size < 999.5e6) return `${threeDigits(ns / 1e6)} ms`;
	if (size < 59.95e9) return `${threeDigits(ns / 1e9)} s`;
	const seconds = Math.round(ns / 1e9);
	const minutes = Math.floor(seconds / 60);
	if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
	return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Number of decimals that tell steps of @step apart. */
function digitsFor(step: number): number {
	return Math.min(9, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
}

/** Time since the run began, as exact as @stepNs: "12.35 s", "2:05.5"; fine steps of the first
 * second in ms or µs. */
export function formatTime(ns: number, stepNs: number): string {
	const sign = ns < 0 ? '−' : '';
	const size = Math.abs(ns);
	for (const [unit, name] of [
		[1e3, 'µs'],
		[1e6, 'ms'],
	] as const)
		if (size < unit * 1000 && stepNs < unit * 10)
			return `${sign}${(size / unit).toFixed(digitsFor(stepNs / unit))} ${name}`;
	const digits = digitsFor(stepNs / 1e9);
	const seconds = Number((size / 1e9).toFixed(digits));
	if (seconds < 60) return `${sign}${seconds.toFixed(digits)} s`;
	const minutes = Math.floor(seconds / 60);
	const rest = (seconds - minutes * 60).toFixed(digits).padStart(digits ? digits + 3 : 2, '0');
	if (minutes < 60) return `${sign}${minutes}:${rest}`;
	return `${sign}${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${rest}`;
}

const PARSED_UNITS: Record<string, number> = {
	ns: 1,
	us: 1e3,
	µs: 1e3,
	ms: 1e6,
	s: 1e9,
	min: 60e9,
	m: 60e9,
	h: 3600e9,
};

/** "12.3 s", "350ms", "1:05.2", "1 min 3 s"; a bare number is seconds. null: not a time. */
export function parseTime(text: string): number | null {
	const clock = /^\s*(?:(\d+):)?(\d+):(\d+(?:[.,]\d+)?)\s*s?\s*$/.exec(text);
	if (clock) {
		const [, hours = '0', minutes, seconds] = clock;
		const all = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds!.replace(',', '.'));
		return Math.round(all * 1e9);
	}
	const parts = text.trim().match(/\d+(?:[.,]\d+)?\s*[a-zµ]*/gi);
	if (!parts || parts.join('').replace(/\s/g, '') !== text.replace(/\s/g, '')) return null;
	let ns = 0;
	for (const part of parts) {
		const [, digits, word] = /^([\d.,]+)\s*([a-zµ]*)$/i.exec(part)!;
		const factor = PARSED_UNITS[word!.toLowerCase() || 's'];
		if (factor === undefined) return null;
		ns += Number(digits!.replace(',', '.')) * factor;
	}
	return Math.round(ns);
}

/** "12.3 s – 14.1 s" with as many digits as the window's length needs. */
export function formatWindow(from: number, to: number): string {
	const step = 10 ** Math.floor(Math.log10(Math.max(to - from, 1)) - 1.3);
	return `${formatTime(from, step)} – ${formatTime(to, step)}`;
}

/** "12.3 s – 14.1 s", "100ms-200ms", "1 to 2". null: not two times, or the wrong way round. */
export function parseWindowText(text: string): { from: number; to: number } | null {
	const parts = text.split(/\s*(?:–|—|-|\.\.+|…|\bto\b)\s*/);
	if (parts.length !== 2) return null;
	const [from, to] = [parseTime(parts[0]!), parseTime(parts[1]!)];
	return from !== null && to !== null && from < to ? { from, to } : null;
}

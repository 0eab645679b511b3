/* The ledger of a run for people: what is missing from the data, what that means, what to do. */
import type { Ledger, OpenedEvent } from '../../api/types';
import { plural } from '../format';
import { formatBytes, formatDuration, formatShare } from '../units';

interface LedgerEntry {
	name: string;
	value: string;
	/** What it means, and what to do if it is not good. */
	about: string;
	bad: boolean;
}

interface Verdict {
	good: boolean;
	text: string;
	/** What to do about it. */
	advice: string | null;
}

const LESS = 'Take fewer samples a second, or fewer events.';

function parts(part: number, whole: number): string {
	return whole
		? `${plural(part, 'sample')} (${formatShare(part / whole)})`
		: plural(part, 'sample');
}

function ofSamples(l: Ledger): LedgerEntry[] {
	const [taken, lost, dropped] = [l.samples ?? 0, l.lost ?? 0, l.dropped ?? 0];
	const whole = taken + lost + dropped;
	return [
		{
			name: 'Lost by the kernel',
			value: lost ? parts(lost, whole) : 'none',
			about:
				'Samples for which the kernel had no room, because they came faster than they were read.',
			bad: lost > 0,
		},
		{
			name: 'Left out by tacho',
			value: dropped ? parts(dropped, whole) : 'none',
			about: 'Samples that were read, but that tacho could not keep up with.',
			bad: dropped > 0,
		},
		{
			name: 'Held back',
			value: l.throttled ? plural(l.throttled, 'time') : 'never',
			about:
				'The kernel slows sampling down when it takes too much of the CPU; then samples are missing.',
			bad: (l.throttled ?? 0) > 0,
		},
		{
			name: 'Stacks cut off',
			value: l.cut_stacks ? parts(l.cut_stacks, whole) : 'none',
			about: 'Stacks so deep that their outermost callers are missing in the flame graph.',
			bad: (l.cut_stacks ?? 0) > 0,
		},
	];
}

function ofCounters(l: Ledger): LedgerEntry[] {
	const missed = l.intervals_missed ?? 0;
	const all = missed + (l.intervals ?? 0);
	const shared = l.multiplexed ?? [];
	const out: LedgerEntry[] = [
		{
			name: 'Readings missed',
			value: missed ? `${missed.toLocaleString('en')} of ${all.toLocaleString('en')}` : 'none',
			about:
				'Counters are read at intervals. After a missed reading the next one covers both, so sums are right, but short peaks are hidden.',
			bad: missed > 0,
		},
		{
			name: 'Shared counters',
			value: shared.length
				? shared
						.map((m) => `${m.event}: ${formatShare(m.running_ppm / 1e6)} of the time`)
						.join(', ')
				: 'none',
			about:
				'The CPU can count only a few events at once. These took turns, and their values are scaled up from the time they really counted.',
			bad: shared.length > 0,
		},
	];
	if (l.interval_stretched_ns)
		out.push({
			name: 'Longer interval',
			value: formatDuration(l.interval_stretched_ns),
			about:
				'Reading the counters took so long that this interval was used instead of the shorter one.',
			bad: true,
		});
	if (l.interval_worst_late_ns)
		out.push({
			name: 'Latest reading',
			value: formatDuration(l.interval_worst_late_ns) + ' late',
			about: 'How late the counters were read at worst. Times are exact all the same.',
			bad: false,
		});
	return out;
}

function ofTheRest(l: Ledger): LedgerEntry[] {
	const others = l.overlap ?? [];
	const out: LedgerEntry[] = [
		{
			name: 'Measured at the same time',
			value: others.length
				? others.map((o) => o.description || o.run || 'another run').join(', ')
				: 'nothing else',
			about:
				'Runs that were measured meanwhile share CPUs and caches with this one and may slow it down.',
			bad: others.length > 0,
		},
	];
	if (l.output_dropped_bytes)
		out.push({
			name: 'Output not kept',
			value: formatBytes(l.output_dropped_bytes),
			about: 'The program printed more than is kept.',
			bad: true,
		});
	if (l.spilled_bytes)
		out.push({
			name: 'Waited on the disk',
			value: formatBytes(l.spilled_bytes),
			about: 'Data that came faster than they could be stored. Nothing of them is lost.',
			bad: false,
		});
	return out;
}

export function ledgerEntries(l: Ledger): LedgerEntry[] {
	const sampled = (l.samples ?? 0) + (l.lost ?? 0) + (l.dropped ?? 0) > 0;
	const counted = (l.intervals ?? 0) + (l.intervals_missed ?? 0) > 0;
	return [...(sampled ? ofSamples(l) : []), ...(counted ? ofCounters(l) : []), ...ofTheRest(l)];
}

const join = (sentences: string[]) => sentences.join(' ');

/** Whether the data can be trusted, in a sentence or two. */
export function verdict(l: Ledger | null, opened: OpenedEvent[] | null = null): Verdict | null {
	if (!l) return null;
	const failed = (opened ?? []).filter((e) => e.problem || e.supported === false);
	const lost = (l.lost ?? 0) + (l.dropped ?? 0);
	const whole = (l.samples ?? 0) + lost;
	const said: string[] = [];
	const advice: string[] = [];
	if (failed.length) {
		said.push(`${failed.map((e) => e.name).join(', ')} could not be measured.`);
		advice.push('The table of events below says why.');
	}
	if (lost) {
		said.push(`${formatShare(lost / whole)} of the samples were lost.`);
		advice.push(LESS);
	}
	if (l.throttled) {
		said.push(`The kernel held sampling back ${plural(l.throttled, 'time')}.`);
		if (!lost) advice.push(LESS);
	}
	const missed = l.intervals_missed ?? 0;
	if (missed) {
		const part = missed / (missed + (l.intervals ?? 0));
		said.push(`${formatShare(part)} of the readings of counters were missed.`);
		advice.push('Read the counters less often.');
	}
	if (l.multiplexed?.length) {
		said.push(`${plural(l.multiplexed.length, 'event')} shared a counter of the CPU.`);
		advice.push('Count fewer events at once for exact values.');
	}
	if (l.overlap?.length) {
		said.push(
			`${plural(l.overlap.length, 'other run was', 'other runs were')} measured meanwhile.`,
		);
		advice.push('Run it alone for figures to compare.');
	}
	if (!said.length) return { good: true, text: 'Nothing was lost.', advice: null };
	return { good: false, text: join(said), advice: join(advice) };
}

/** What measuring has cost: CPU time, and its part of one CPU while the run went on. */
export function overhead(l: Ledger | null, seconds: number | null): string | null {
	const ns = l?.collector_cpu_ns;
	if (!ns) return null;
	const time = `${formatDuration(ns)} of CPU time`;
	return seconds ? `${time}, ${formatShare(ns / 1e9 / seconds)} of one CPU` : time;
}

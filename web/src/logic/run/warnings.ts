/* What one should know about a run's data before trusting them, in a few words and a sentence. */
import type { Ledger } from '../../api/types';
import { plural } from '../format';
import { formatShare } from '../units';

interface Warning {
	words: string;
	sentence: string;
}

function lost(l: Ledger): Warning | null {
	const missing = (l.lost ?? 0) + (l.dropped ?? 0);
	if (!missing) return null;
	const share = formatShare(missing / (missing + (l.samples ?? 0)));
	return {
		words: `${share} of samples lost`,
		sentence: `${plural(missing, 'sample')} could not be kept up with. A lower frequency loses fewer.`,
	};
}

function throttled(l: Ledger): Warning | null {
	if (!l.throttled) return null;
	return {
		words: `slowed down ${plural(l.throttled, 'time')}`,
		sentence:
			'The kernel slowed sampling down because it took too much time. A lower frequency avoids that.',
	};
}

function multiplexed(l: Ledger): Warning | null {
	const events = l.multiplexed?.filter((m) => m.running_ppm < 990000) ?? [];
	if (!events.length) return null;
	return {
		words: `${plural(events.length, 'counter')} estimated`,
		sentence:
			'More events were asked for than the CPU can count at once: they took turns, and their numbers are estimates. Fewer events are exact.',
	};
}

function intervals(l: Ledger): Warning | null {
	if (!l.intervals_missed) return null;
	return {
		words: `${plural(l.intervals_missed, 'reading')} missed`,
		sentence: 'The counters could not be read as often as asked for. A longer interval helps.',
	};
}

function overlap(l: Ledger): Warning | null {
	if (!Array.isArray(l.overlap) || !l.overlap.length) return null;
	return {
		words: 'ran beside another',
		sentence: `${plural(l.overlap.length, 'other run was', 'other runs were')} measured at the same time and may have disturbed this one.`,
	};
}

export function warningsOf(ledger: Ledger | null): Warning[] {
	if (!ledger) return [];
	return [lost, throttled, multiplexed, intervals, overlap]
		.map((look) => look(ledger))
		.filter((w) => w !== null);
}

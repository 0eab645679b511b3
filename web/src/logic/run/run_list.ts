/* Search, tags and neighbours in the list of runs. */
import type { Run } from '../../api/types';
import { runName } from './run_words';

/** Whether all words occur in the run's name, command, note, tags or state. */
export function matches(run: Run, search: string): boolean {
	const text = [runName(run), run.workload, run.note, ...run.tags, run.state]
		.join('\n')
		.toLowerCase();
	return search
		.toLowerCase()
		.split(/\s+/)
		.every((word) => text.includes(word));
}

/** All tags of these runs, the most frequent first. */
export function tagsOf(runs: Run[]): string[] {
	const counts = new Map<string, number>();
	for (const run of runs) for (const t of run.tags) counts.set(t, (counts.get(t) ?? 0) + 1);
	return [...counts.keys()].sort((a, b) => counts.get(b)! - counts.get(a)!);
}

/** The neighbour of a run in the list, at the ends itself; the first run if @uuid is unknown. */
export function neighbour(runs: Run[], uuid: string | null, step: 1 | -1): Run | null {
	const at = runs.findIndex((r) => r.uuid === uuid);
	if (at < 0) return runs[0] ?? null;
	return runs[Math.max(0, Math.min(at + step, runs.length - 1))]!;
}

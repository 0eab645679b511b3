import type { Run } from '../api/types';
import { outcomeOf, runName, STATE_SIGNS } from './run/run_words';
import { formatDuration } from './units';

/** "● 12 s gcc – tacho" while the run goes on, "✓ gcc – tacho" afterwards. */
export function pageTitle(run: Run | null, session: string | null, now: number): string {
	if (!run) return session ? `${session} – tacho` : 'tacho';
	const words = [STATE_SIGNS[outcomeOf(run)]];
	if (run.state === 'running' && run.started_at) {
		const seconds = Math.max(0, Math.floor((now - Date.parse(run.started_at)) / 1000));
		words.push(formatDuration(seconds * 1e9));
	}
	return `${words.join(' ')} ${runName(run)} – tacho`;
}

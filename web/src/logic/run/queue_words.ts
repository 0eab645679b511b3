/* The queue in words and figures. */
import type { Progress } from '../../api/types';

/** "1 running, 2 waiting", "idle". */
export function queueWords(running: number, waiting: number): string {
	const parts = [];
	if (running) parts.push(`${running} running`);
	if (waiting) parts.push(`${waiting} waiting`);
	return parts.join(', ') || 'idle';
}

interface Remaining {
	elapsed: number;
	/** Seconds still to go; null: unknown. */
	left: number | null;
	/** 0 to 1; null: unknown. */
	part: number | null;
}

/** The state of a run that reported @progress @since seconds ago. */
export function remaining(progress: Progress | null, since: number): Remaining {
	if (!progress) return { elapsed: 0, left: null, part: null };
	const elapsed = progress.elapsed_s + Math.max(0, since);
	const left = progress.eta_s === null ? null : Math.max(0, progress.eta_s - since);
	if (progress.done_part > 0) return { elapsed, left, part: Math.min(1, progress.done_part) };
	if (left === null) return { elapsed, left, part: null };
	// Overdue: stays just below the end for as long as it takes.
	return { elapsed, left: left || null, part: Math.min(0.98, elapsed / (elapsed + left || 1)) };
}

/* Names and outcomes of runs in words. */
import type { Run, RunState } from '../../api/types';

export const STATE_WORDS: Record<RunState, string> = {
	queued: 'waiting',
	running: 'running',
	done: 'done',
	failed: 'failed',
	cancelled: 'cancelled',
	interrupted: 'interrupted',
};

/** Each state has its own sign, so that none is told by colour alone. */
export const STATE_SIGNS: Record<RunState, string> = {
	queued: '◌',
	running: '●',
	done: '✓',
	failed: '✗',
	cancelled: '⊘',
	interrupted: '⚡',
};

/** The outcome for people: a program that ends with an error has failed, though its run is done. */
export function outcomeOf(run: Run): RunState {
	return run.state === 'done' && (run.exit_status || run.signal) ? 'failed' : run.state;
}

/** /usr/bin/gcc -c 'a b.c' → gcc -c 'a b.c' */
function commandLine(argv: string[]): string {
	const words = argv.map((word) => (/[\s'"]/.test(word) ? `'${word}'` : word));
	if (words[0]?.includes('/')) words[0] = words[0].slice(words[0].lastIndexOf('/') + 1);
	return words.join(' ');
}

/** One line that names the run: its description, else what it does. */
export function runName(run: Run): string {
	if (run.description) return run.description;
	if (run.import) return String(run.import);
	if (run.shell && typeof run.workload === 'string') return run.workload;
	if (run.argv.length) return commandLine(run.argv);
	if (run.pids?.length)
		return `${run.pids.length > 1 ? 'processes' : 'process'} ${run.pids.join(', ')}`;
	if (run.tids?.length)
		return `${run.tids.length > 1 ? 'threads' : 'thread'} ${run.tids.join(', ')}`;
	return run.system_wide ? 'the whole system' : 'run';
}

const SIGNALS: Record<number, string> = {
	1: 'hang-up',
	2: 'Ctrl-C',
	3: 'quit',
	4: 'an illegal instruction',
	6: 'abort',
	7: 'a bus error',
	8: 'a wrong calculation, such as a division by zero',
	9: 'kill',
	11: 'a wrong memory access',
	13: 'a closed pipe',
	15: 'a request to end',
};

/** Why a run has not ended well, in a sentence; null if it has, was cancelled, or goes on. */
export function runTrouble(run: Run): string | null {
	if (run.state === 'queued' || run.state === 'running') return null;
	if (run.error) return run.error;
	if (run.timed_out)
		return `The program took longer than its timeout of ${run.timeout} s and was ended.`;
	if (run.state === 'interrupted')
		return 'The server stopped during this run. The data measured until then is kept.';
	if (run.state === 'cancelled') return null;
	if (run.signal) {
		const what = SIGNALS[run.signal];
		return `The program was ended by signal ${run.signal}${what ? ` (${what})` : ''}.`;
	}
	if (run.exit_status) return `The program ended with status ${run.exit_status}.`;
	return run.state === 'failed'
		? 'The run failed without a reason. The output may tell more.'
		: null;
}

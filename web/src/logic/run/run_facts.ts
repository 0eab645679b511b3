/* A run as pairs of a name and a value: what ran, when, how it ended, on which machine. Fields that
 * are not there (a run that waits, one that was imported) give no pair. */
import type { OpenedEvent, Run } from '../../api/types';
import { formatBytes, formatCount, formatDuration } from '../units';
import { quoteWord, splitWords } from '../words';

export interface Fact {
	name: string;
	value: string;
	/** Shown as typed. */
	code?: boolean;
	about?: string;
}

/** Signal numbers of Linux, the same on all machines that tacho runs on. */
const SIGNALS: Record<number, [string, string]> = {
	1: ['SIGHUP', 'its terminal was closed'],
	2: ['SIGINT', 'Ctrl-C'],
	3: ['SIGQUIT', 'Ctrl-\\'],
	4: ['SIGILL', 'an instruction that the CPU does not know'],
	5: ['SIGTRAP', 'a breakpoint'],
	6: ['SIGABRT', 'it gave up by itself, often after a failed check'],
	7: ['SIGBUS', 'memory that is not there'],
	8: ['SIGFPE', 'a wrong calculation, such as a division by zero'],
	9: ['SIGKILL', 'it was killed, perhaps because memory ran out'],
	10: ['SIGUSR1', 'a signal of the program itself'],
	11: ['SIGSEGV', 'a wrong memory access'],
	12: ['SIGUSR2', 'a signal of the program itself'],
	13: ['SIGPIPE', 'it wrote to a pipe that nobody reads'],
	14: ['SIGALRM', 'its own alarm'],
	15: ['SIGTERM', 'it was asked to end'],
	24: ['SIGXCPU', 'it used more CPU time than it may'],
	25: ['SIGXFSZ', 'it wrote a larger file than it may'],
	31: ['SIGSYS', 'a system call that is not allowed'],
};

const STATUS: Record<number, string> = {
	0: 'all went well',
	126: 'it could not be executed',
	127: 'it was not found',
};

/** How the program ended, in words; null if it has not ended, or there was none. */
export function exitWords(run: Run): string | null {
	if (run.signal) {
		const [name, why] = SIGNALS[run.signal] ?? [`signal ${run.signal}`, ''];
		return `Ended by ${name}${why ? `: ${why}` : ''}`;
	}
	if (run.exit_status === null || run.exit_status === undefined) return null;
	const why = STATUS[run.exit_status] ?? 'the program says that something went wrong';
	return `Status ${run.exit_status}: ${why}`;
}

type Maybe = string | number | null | undefined | false;

/** Leaves out empty values; 0 means "not given". */
function facts(list: [string, Maybe, Partial<Fact>?][]): Fact[] {
	return list
		.filter(([, value]) => value)
		.map(([name, value, more]) => ({ name, value: String(value), ...more }));
}

const LIMITS: Record<string, [string, (n: number) => string]> = {
	cpu_s: ['CPU time', (n) => n + ' s'],
	memory_bytes: ['memory', formatBytes],
	files: ['open files', String],
	processes: ['processes', String],
	file_bytes: ['size of a file', formatBytes],
};

function limitWords(limits: unknown): string {
	return Object.entries((limits ?? {}) as Record<string, number | null>)
		.filter(([, n]) => n)
		.map(([key, n]) => (LIMITS[key] ? `${LIMITS[key][0]} ${LIMITS[key][1](n!)}` : `${key} ${n}`))
		.join(', ');
}

const TOOLS = { stat: 'Count', record: 'Sample', both: 'Count and sample' };

const STACKS: Record<string, string> = { fp: 'frame pointers', dwarf: 'copies' };

function samplingWords(run: Run): string {
	const s = run.sample;
	if (!s || run.tool === 'stat') return '';
	const often = s.period
		? `every ${s.period.toLocaleString('en')} events`
		: s.frequency
			? `${s.frequency.toLocaleString('en')} times a second`
			: '';
	const stacks =
		s.callgraph && s.callgraph !== 'none'
			? `stacks by ${STACKS[s.callgraph] ?? s.callgraph}`
			: 'no stacks';
	return [often, stacks].filter(Boolean).join(', ');
}

/** The words that were executed, if they differ from what was typed. */
function executed(run: Run): string {
	const typed = typeof run.workload === 'string' ? splitWords(run.workload).words : null;
	const same = typed?.length === run.argv.length && typed.every((w, i) => w === run.argv[i]);
	return same ? '' : run.argv.map(quoteWord).join(' ');
}

export function whatRan(run: Run): Fact[] {
	const code = { code: true };
	const env = (run.env ?? []).map(([name, value]) => `${name}=${quoteWord(value)}`);
	return facts([
		['Imported file', run.import ? String(run.import) : null, code],
		['Command', typeof run.workload === 'string' ? run.workload : null, code],
		['Executed', executed(run), { ...code, about: 'The words as they were executed' }],
		['Processes watched', run.pids?.join(', ')],
		['Threads watched', run.tids?.join(', ')],
		['Watched', run.system_wide && 'the whole system'],
		['CPUs watched', run.cpus],
		['For at most', run.duration && formatDuration(run.duration * 1e9)],
		['Environment', env.join('\n'), { ...code, about: 'Variables that were added' }],
		['Directory', run.cwd, code],
		['Run as', run.run_as],
		['CPUs allowed', run.affinity, { about: 'The CPUs that the program may use' }],
		['Ended after', run.timeout && formatDuration(run.timeout * 1e9)],
		['Limits', limitWords((run as { limits?: unknown }).limits)],
		['Tool', run.tool && TOOLS[run.tool]],
		[
			'Counters read',
			run.tool !== 'record' && run.interval && `every ${formatDuration(run.interval * 1e9)}`,
		],
		['Samples', samplingWords(run)],
		['Exclusive', !run.import && (run.exclusive ? 'yes: other runs wait for it' : 'no')],
		['Process number', run.workload_pid],
		['Started by', run.user],
	]);
}

/** @local formats a time in the reader's time zone. */
export function whenItRan(run: Run, local: (at: string) => string): Fact[] {
	return facts([
		['State', run.state === 'queued' ? 'waiting' : run.state],
		['Program', exitWords(run)],
		['Reason', run.error],
		['Took too long', run.timed_out && 'it was ended by its time limit'],
		[
			run.import ? 'Reading took' : 'Took',
			run.duration_s !== null && formatDuration(run.duration_s * 1e9),
		],
		['Queued', run.created_at && local(run.created_at)],
		['Started', run.started_at && local(run.started_at)],
		['Ended', run.ended_at && local(run.ended_at)],
		['Clock', run.clock, { about: 'What its times are measured with' }],
	]);
}

const MACHINE: Record<string, string> = {
	host: 'Host',
	kernel: 'Kernel',
	machine: 'Architecture',
	cpu: 'CPU',
	cpus_online: 'CPUs',
	memory_bytes: 'Memory',
	distribution: 'System',
	tacho: 'tacho',
	perf: 'Recorded by',
	command: 'Recorded with',
	governor: 'Frequency governor',
	perf_event_paranoid: 'perf_event_paranoid',
	kptr_restrict: 'kptr_restrict',
	load: 'Load at the start',
};

const ABOUT_MACHINE: Record<string, string> = {
	governor:
		'How the kernel chooses the speed of the CPU; “performance” gives the steadiest figures',
	perf_event_paranoid: 'What users may measure: −1 everything … 2 only their own programs',
	kptr_restrict: 'Whether addresses of the kernel are hidden; 0: its functions have names',
	load: 'How many programs wanted the CPU in the last 1, 5 and 15 minutes; how many of all ran',
};

function environmentValue(key: string, value: unknown): string {
	if (value === null || value === undefined || value === '') return 'unknown';
	if (key.endsWith('_bytes') && typeof value === 'number') return formatBytes(value);
	if (typeof value === 'boolean') return value ? 'yes' : 'no';
	return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Everything that was recorded, including fields that this page has no words for. */
export function machineFacts(environment: Record<string, unknown> | null): Fact[] {
	const known = Object.keys(MACHINE);
	const place = (key: string) => (known.indexOf(key) + known.length + 1) % (known.length + 1);
	return Object.entries(environment ?? {})
		.sort(([a], [b]) => place(a) - place(b))
		.map(([key, value]) => ({
			name: MACHINE[key] ?? key.replace(/_/g, ' '),
			value: environmentValue(key, value),
			about: ABOUT_MACHINE[key],
		}));
}

/** How an event was measured. */
export function eventUse(e: OpenedEvent): string {
	const uses = [e.counted && 'counted', e.sampled && 'sampled'].filter(Boolean);
	return uses.join(' and ') || 'not used';
}

export function eventRate(e: OpenedEvent): string {
	if (!e.sampled) return '–';
	if (e.frequency) return `${formatCount(e.frequency)} a second`;
	return e.period ? `every ${e.period.toLocaleString('en')}` : '–';
}

/* What is wrong with a draft, and in which field of the form. */
import { counts, REPEAT_MAX, samples, type Draft } from './plan';
import { splitWords } from '../words';

export type Field = keyof Draft;
export type Mistakes = Partial<Record<Field, string>>;

function checkNumber(
	into: Mistakes,
	draft: Draft,
	field: 'timeout' | 'duration' | 'interval' | 'frequency' | 'period' | 'repeat',
	limits: { min: number; max: number; whole?: boolean; needed?: boolean },
): void {
	const typed = draft[field].trim();
	const value = Number(typed);
	const { min, max, whole, needed } = limits;
	if (!typed && !needed) return;
	// 0 means "no limit" in optional fields.
	if (typed && value === 0 && !needed) return;
	if (!typed || !(value >= min && value <= max) || (whole && !Number.isInteger(value)))
		into[field] = `This has to be a ${whole ? 'whole ' : ''}number from ${min} to ${max}.`;
}

/** "0-3,8", as the kernel writes it. */
function checkCpus(into: Mistakes, draft: Draft, field: 'affinity' | 'cpus'): void {
	const typed = draft[field].trim();
	const parts = typed.split(',').map((part) => /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part.trim()));
	const good = parts.every((p) => p && (p[2] === undefined || Number(p[1]) <= Number(p[2])));
	if (typed && !good) into[field] = 'This has to be a list of CPUs, such as 0-3,8.';
}

function checkCommand(into: Mistakes, draft: Draft): void {
	if (!draft.command.trim()) into.command = 'Type the command that is to be measured.';
	else if (!draft.shell) {
		const { problem } = splitWords(draft.command);
		if (problem) into.command = problem;
	}
	if (draft.cwd.trim() && !draft.cwd.trim().startsWith('/'))
		into.cwd = 'Give the whole path, from / on.';
	const bad = draft.env.find((v) => v.name.includes('=') || (!v.name.trim() && v.value));
	if (bad)
		into.env = bad.name
			? `“${bad.name}” cannot be the name of a variable.`
			: 'A variable has no name.';
	checkCpus(into, draft, 'affinity');
	checkNumber(into, draft, 'timeout', { min: 0.001, max: 315360000 });
}

/** Mistakes that can be found without the server. */
export function mistakesOf(draft: Draft): Mistakes {
	const into: Mistakes = {};
	if (draft.target === 'command') checkCommand(into, draft);
	else {
		checkNumber(into, draft, 'duration', { min: 0.001, max: 315360000 });
		if (draft.target === 'system') checkCpus(into, draft, 'cpus');
	}
	if (draft.target === 'attach' && !draft.pids.length && !draft.tids.length)
		into.pids = 'Choose at least one process.';
	if (counts(draft)) {
		if (!draft.events.length) into.events = 'Choose what is to be counted.';
		checkNumber(into, draft, 'interval', { min: 0.001, max: 3600, needed: true });
	}
	if (samples(draft)) {
		if (!draft.samples.length) into.samples = 'Choose at least one event to sample.';
		const whole = draft.rate === 'period';
		const limits = { min: 1, max: whole ? 2 ** 53 : 1e6, whole, needed: true };
		checkNumber(into, draft, draft.rate, limits);
	}
	checkNumber(into, draft, 'repeat', { min: 1, max: REPEAT_MAX, whole: true, needed: true });
	return into;
}

/** Fields of a plan, as quoted in the server's messages → fields of the form. */
const QUOTED: Record<string, Field> = {
	workload: 'command',
	shell: 'shell',
	env: 'env',
	cwd: 'cwd',
	user: 'user',
	affinity: 'affinity',
	timeout: 'timeout',
	pids: 'pids',
	tids: 'pids',
	cpus: 'cpus',
	duration: 'duration',
	events: 'events',
	interval: 'interval',
	sample: 'samples',
	'sample.events': 'samples',
	'sample.frequency': 'frequency',
	'sample.period': 'period',
	'sample.callgraph': 'callgraph',
	'sample.filter': 'filter',
	description: 'description',
};

const FILTER_PREFIX = /^sample\.filter: /;

/** The field of the form that a message of the server is about; null: no particular one. */
export function fieldOf(sentence: string, draft: Draft): Field | null {
	const quoted = QUOTED[/^'([a-z_.]+)'/.exec(sentence)?.[1] ?? ''];
	if (quoted) return quoted;
	if (FILTER_PREFIX.test(sentence)) return 'filter';
	if (/^the command /.test(sentence)) return 'command';
	if (/^call stacks? /.test(sentence)) return 'callgraph';
	if (/there is no such user/.test(sentence)) return 'user';
	if (/its directory/.test(sentence)) return 'cwd';
	if (/^cannot run /.test(sentence)) return 'command';
	if (/no (process|thread) \d/.test(sentence)) return 'pids';
	if (!/event|tracepoint|modifier/.test(sentence)) return null;
	// Choose the set that contains an event named in the message.
	const names = [...sentence.matchAll(/'([^']+)'/g)].map((found) => found[1]!);
	const sampled = draft.samples.some((e) => names.some((name) => name.includes(e.name)));
	return samples(draft) && (sampled || !counts(draft)) ? 'samples' : 'events';
}

/** Only the first line: the rest points at a place in a text that the form does not show. The condition of
 * tracepoints is shown, with the mark below it. */
export function messageFor(field: Field | null, message: string): string {
	if (field === 'filter') return message.replace(FILTER_PREFIX, '');
	return message.split('\n')[0]!;
}

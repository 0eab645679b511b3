/* The draft of a run, as the form holds it ⇄ the plan that is sent to the server. */
import type { Plan, Run, Tool } from '../../api/types';
import { formatEvents, parseEvents, type Chosen } from './events';

export const TARGETS = ['command', 'attach', 'system'] as const;
export type Target = (typeof TARGETS)[number];

export interface Variable {
	name: string;
	value: string;
}

/** Numbers are kept as typed text; an empty one is not given. */
export interface Draft {
	tool: Tool;
	target: Target;
	command: string;
	shell: boolean;
	env: Variable[];
	cwd: string;
	user: string;
	affinity: string;
	timeout: string;
	repeat: string;
	pids: number[];
	tids: number[];
	cpus: string;
	duration: string;
	events: Chosen[];
	interval: string;
	samples: Chosen[];
	/** A condition on the fields of sampled tracepoints. */
	filter: string;
	rate: 'frequency' | 'period';
	frequency: string;
	period: string;
	callgraph: string;
	live: boolean;
	keepRaw: boolean;
	description: string;
}

export const DEFAULT_DRAFT: Draft = {
	tool: 'both',
	target: 'command',
	command: '',
	shell: false,
	env: [],
	cwd: '',
	user: '',
	affinity: '',
	timeout: '',
	repeat: '1',
	pids: [],
	tids: [],
	cpus: '',
	duration: '10',
	events: parseEvents(['task-clock', 'page-faults', 'context-switches']),
	interval: '0.1',
	samples: parseEvents(['cpu-clock']),
	filter: '',
	rate: 'frequency',
	frequency: '999',
	period: '1000000',
	callgraph: 'fp',
	live: true,
	keepRaw: false,
	description: '',
};

/** The draft to begin with: if the CPU can count, its own events say more than the clock. */
export function usualDraft(cpuCounts: boolean): Draft {
	if (!cpuCounts) return DEFAULT_DRAFT;
	return {
		...DEFAULT_DRAFT,
		events: parseEvents(['task-clock', 'cycles', 'instructions', 'page-faults']),
		samples: parseEvents(['cycles']),
	};
}

/** The server's limit for `client`. */
const CLIENT_BYTES_MAX = 65536;
const CLIENT_APP = 'tacho page';
export const REPEAT_MAX = 100;

export function counts(draft: Draft): boolean {
	return draft.tool !== 'record';
}

export function samples(draft: Draft): boolean {
	return draft.tool !== 'stat';
}

function said(text: string): string | undefined {
	return text.trim() || undefined;
}

function number(text: string): number | undefined {
	return text.trim() ? Number(text) : undefined;
}

function envOf(draft: Draft): Record<string, string> | undefined {
	const set = draft.env.filter((v) => v.name.trim());
	return set.length ? Object.fromEntries(set.map((v) => [v.name.trim(), v.value])) : undefined;
}

function targetOf(draft: Draft): Plan {
	if (draft.target === 'command')
		return {
			workload: draft.command.trim(),
			shell: draft.shell || undefined,
			env: envOf(draft),
			cwd: said(draft.cwd),
			user: said(draft.user),
			affinity: said(draft.affinity),
			timeout: number(draft.timeout),
		};
	if (draft.target === 'system')
		return { system_wide: true, cpus: said(draft.cpus), duration: number(draft.duration) };
	return {
		pids: draft.pids.length ? draft.pids : undefined,
		tids: draft.tids.length ? draft.tids : undefined,
		duration: number(draft.duration),
	};
}

/** Leaves out fields that are not set, so that the plan has only what was chosen. */
function compact<T extends object>(value: T): T {
	return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as T;
}

/** The plan without the page's own data: what an equal command line would send. */
export function bareplanOf(draft: Draft): Plan {
	const sample = compact({
		events: formatEvents(draft.samples),
		frequency: draft.rate === 'frequency' ? number(draft.frequency) : undefined,
		period: draft.rate === 'period' ? number(draft.period) : undefined,
		callgraph: draft.callgraph,
		filter: said(draft.filter),
	});
	return compact<Plan>({
		...targetOf(draft),
		tool: draft.tool,
		events: counts(draft) ? formatEvents(draft.events) : undefined,
		interval: counts(draft) ? number(draft.interval) : undefined,
		sample: samples(draft) ? sample : undefined,
		streaming: draft.live ? undefined : false,
		keep_raw: draft.keepRaw || undefined,
		description: said(draft.description),
	});
}

export function planOf(draft: Draft): Plan {
	const client = { app: CLIENT_APP, draft };
	const plan = bareplanOf(draft);
	// A draft that is too large can be restored from the plan's own fields.
	return new TextEncoder().encode(JSON.stringify(client)).length <= CLIENT_BYTES_MAX
		? { ...plan, client }
		: plan;
}

/** The name of a run of this draft. */
export function nameOf(draft: Draft): string {
	if (draft.description.trim()) return draft.description.trim();
	if (draft.target === 'command') return draft.command.trim();
	if (draft.target === 'system') return 'the whole system';
	const of = (ids: number[], one: string, many: string) =>
		ids.length ? [`${ids.length > 1 ? many : one} ${ids.join(', ')}`] : [];
	return [...of(draft.pids, 'process', 'processes'), ...of(draft.tids, 'thread', 'threads')].join(
		', ',
	);
}

export function repeatsOf(draft: Draft): number {
	const n = Math.floor(Number(draft.repeat));
	return n >= 1 ? Math.min(n, REPEAT_MAX) : 1;
}

/** One plan for each repetition, described as "name 1/3" … */
export function plansOf(draft: Draft): Plan[] {
	const n = repeatsOf(draft);
	const plan = planOf(draft);
	if (n === 1) return [plan];
	return Array.from({ length: n }, (_, i) => ({
		...plan,
		description: `${nameOf(draft)} ${i + 1}/${n}`,
	}));
}

/* ---- and back ---- */

function sameKind(value: unknown, model: unknown): boolean {
	if (Array.isArray(model)) return Array.isArray(value);
	return typeof value === typeof model;
}

function isChosen(value: unknown): value is Chosen {
	const v = value as Chosen | null;
	return (
		typeof v?.name === 'string' && typeof v.modifiers === 'string' && typeof v.joined === 'boolean'
	);
}

function isVariable(value: unknown): value is Variable {
	const v = value as Variable | null;
	return typeof v?.name === 'string' && typeof v.value === 'string';
}

/** A draft from outside (storage, `client` of a run): invalid fields get their default. */
export function readDraft(value: unknown): Draft | null {
	if (typeof value !== 'object' || value === null) return null;
	const draft = { ...DEFAULT_DRAFT } as Record<string, unknown>;
	for (const [name, model] of Object.entries(DEFAULT_DRAFT)) {
		const found = (value as Record<string, unknown>)[name];
		if (sameKind(found, model)) draft[name] = found;
	}
	const out = draft as unknown as Draft;
	out.env = out.env.filter(isVariable);
	out.events = out.events.filter(isChosen);
	out.samples = out.samples.filter(isChosen);
	out.pids = out.pids.filter(Number.isInteger);
	out.tids = out.tids.filter(Number.isInteger);
	if (!TARGETS.includes(out.target)) out.target = 'command';
	if (!['stat', 'record', 'both'].includes(out.tool)) out.tool = 'both';
	if (out.rate !== 'period') out.rate = 'frequency';
	return out;
}

function text(value: unknown): string {
	return value === null || value === undefined || value === 0 ? '' : String(value);
}

function eventsOf(list: string[] | undefined, otherwise: Chosen[]): Chosen[] {
	return list?.length ? parseEvents(list) : otherwise;
}

/** The draft of a run that was not started by this page. */
function draftOfPlan(run: Run): Draft {
	const { sample } = run;
	const command = run.workload ?? '';
	return {
		...DEFAULT_DRAFT,
		tool: run.tool ?? 'stat',
		target: run.system_wide ? 'system' : command ? 'command' : 'attach',
		command,
		shell: run.shell ?? false,
		env: (run.env ?? []).map(([name, value]) => ({ name, value })),
		cwd: text(run.cwd),
		user: text(run.run_as),
		affinity: text(run.affinity),
		timeout: text(run.timeout),
		pids: run.pids ?? [],
		tids: run.tids ?? [],
		cpus: text(run.cpus),
		duration: command ? DEFAULT_DRAFT.duration : text(run.duration),
		events: eventsOf(run.events, DEFAULT_DRAFT.events),
		interval: text(run.interval) || DEFAULT_DRAFT.interval,
		samples: eventsOf(sample?.events, DEFAULT_DRAFT.samples),
		filter: text(sample?.filter),
		rate: sample?.period ? 'period' : 'frequency',
		frequency: text(sample?.frequency) || DEFAULT_DRAFT.frequency,
		period: text(sample?.period) || DEFAULT_DRAFT.period,
		callgraph: sample ? (sample.callgraph ?? 'none') : DEFAULT_DRAFT.callgraph,
		live: run.streaming ?? true,
		keepRaw: run.keep_raw ?? false,
		description: run.description === run.workload ? '' : text(run.description),
	};
}

/** The form as it was when @run was started; null if nothing can be repeated (an imported file). */
export function draftOf(run: Run): Draft | null {
	if (run.import) return null;
	const client = run.client as { app?: unknown; draft?: unknown } | null | undefined;
	if (client?.app === CLIENT_APP) return readDraft(client.draft);
	return draftOfPlan(run);
}

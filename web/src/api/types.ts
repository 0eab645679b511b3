/* What the server answers, as described by /api/v1/openapi.json. Names are those of the JSON. */

export type RunState = 'queued' | 'running' | 'done' | 'failed' | 'cancelled' | 'interrupted';
export type Tool = 'stat' | 'record' | 'both';
export type FrameKind = 'user' | 'kernel' | 'jit' | 'vdso' | 'unknown';

export interface Sampling {
	events?: string[];
	frequency?: number | null;
	period?: number | null;
	callgraph?: string | null;
}

/** What a run is to do; the body of POST session/ID. */
export interface Plan {
	description?: string | null;
	workload?: string | string[] | null;
	shell?: boolean;
	env?: Record<string, string>;
	cwd?: string | null;
	user?: string | null;
	affinity?: string | null;
	timeout?: number;
	pids?: number[];
	tids?: number[];
	system_wide?: boolean;
	cpus?: string | null;
	duration?: number;
	tool?: Tool;
	events?: string[];
	interval?: number;
	sample?: Sampling;
	streaming?: boolean;
	keep_raw?: boolean;
	exclusive?: boolean | null;
	tags?: string[];
	note?: string | null;
	client?: unknown;
}

export interface Progress {
	elapsed_s: number;
	expected_s: number | null;
	eta_s: number | null;
	starts_in_s: number | null;
	place: number;
	done_part: number;
}

export interface Ledger {
	samples?: number;
	lost?: number;
	throttled?: number;
	intervals?: number;
	intervals_missed?: number;
	interval_stretched_ns?: number;
	interval_worst_late_ns?: number;
	waiting_bytes?: number;
	cut_stacks?: number;
	multiplexed?: { event: string; running_ppm: number }[];
	behind_ns?: number;
	dropped?: number;
	collector_cpu_ns?: number;
	spilled_bytes?: number;
	output_dropped_bytes?: number;
	overlap?: { run?: string; description?: string; from_ns?: number; to_ns?: number | null }[];
	[more: string]: unknown;
}

export interface OpenedEvent {
	name: string;
	counted?: boolean;
	sampled?: boolean;
	type?: number;
	config?: number;
	period?: number | null;
	frequency?: number | null;
	supported?: boolean;
	problem?: string | null;
	[more: string]: unknown;
}

export interface Run extends Omit<Plan, 'user'> {
	uuid: string;
	session: string;
	state: RunState;
	argv: string[];
	exclusive: boolean;
	user: string | null;
	run_as?: string | null;
	import?: string | null;
	created_at: string;
	started_at: string | null;
	ended_at: string | null;
	duration_s: number | null;
	exit_status: number | null;
	signal: number | null;
	timed_out: boolean;
	error: string | null;
	note: string | null;
	tags: string[];
	environment: Record<string, unknown> | null;
	opened_events: OpenedEvent[] | null;
	clock: string | null;
	workload_pid: number | null;
	ledger: Ledger | null;
	samples: number;
	bytes: number;
	raw: boolean;
	progress: Progress | null;
	links: Record<string, string>;
}

/** As lists of sessions have it. */
export interface SessionHead {
	uuid: string;
	title: string;
	created_at: string;
	/** How many. */
	runs: number;
}

/** With a page of its runs, the newest first. */
export interface Session extends Omit<SessionHead, 'runs'> {
	runs: Run[];
	next: string | null;
}

export interface Queue {
	running: Run[];
	queued: Run[];
	next: string | null;
}

export interface Me {
	name: string;
	role: 'look' | 'run' | 'administer';
	server: { version: string; host: string; uptime_s: number; demo?: string[] };
}

export interface EventInfo {
	name: string;
	alias: string | null;
	description: string | null;
	group: 'hw' | 'sw' | 'cache' | 'pmu' | 'tracepoint' | 'sdt' | 'probe' | 'raw';
	pmu: string | null;
	unit: string | null;
	available: boolean | null;
	reason: string | null;
	used: number;
	masks: { name: string; description: string | null }[];
}

export interface ProcessInfo {
	pid: number;
	command: string;
	comm: string;
	user: string;
	threads: number;
	cpu_s: number;
	started_at: string;
	mine: boolean;
}

/** name, module, kind */
export type FunctionName = [string, string, FrameKind];

/** A column is a typed array in binary answers; code that reads it needs only length and [i]. */
export type Column = ArrayLike<number>;

export interface FlameNodes {
	parent: Column;
	name: Column;
	self: Column;
	total: Column;
	inlined: Column;
}

export interface FlameHidden {
	nodes: number;
	weight: number;
}

/** Node 0 is the root; parents come first. */
export interface FlameTree {
	total: number;
	nodes: FlameNodes;
	hidden: FlameHidden;
}

/** Of one thread in the order of time; depth 0: called by nobody. */
export interface FlameBoxes {
	name: Column;
	depth: Column;
	from_ns: Column;
	to_ns: Column;
}

export interface Flame extends Partial<FlameTree> {
	event: string | null;
	unit: string | null;
	total: number;
	samples: number;
	names: FunctionName[];
	callers?: FlameTree;
	callees?: FlameTree;
	thread?: { pid: number; tid: number; comm: string } | null;
	from_ns?: number;
	to_ns?: number;
	boxes?: FlameBoxes;
}

export interface FunctionRow {
	name: string;
	module: string;
	kind: FrameKind;
	self: number;
	total: number;
	self_samples: number;
	total_samples: number;
}

export interface Functions {
	event: string | null;
	unit: string | null;
	total: number;
	samples: number;
	functions: FunctionRow[];
	next: string | null;
}

export interface CounterLine {
	name: string;
	unit: string | null;
	scale: number;
	cpu: number | null;
	thread: number | null;
	t: Column;
	/** A second; NaN or null where nothing was counted. */
	min: Column;
	max: Column;
	mean: Column;
	sum: Column;
	running_ppm: Column;
}

export interface SampleLine {
	event: string;
	t: Column;
	rate: Column;
	count: Column;
}

export interface Mark {
	ns: number;
	kind: 'lost' | 'throttled' | 'note';
	count?: number;
	text?: string;
}

export interface Timeline {
	from_ns: number;
	to_ns: number;
	counters: CounterLine[];
	samples: SampleLine[];
	marks: Mark[];
}

export interface Points {
	names: FunctionName[];
	function: Column;
	t: Column;
	events: string[];
	event: Column;
	address: Column;
	address_of: 'data' | 'code';
	thinned_from: number;
}

export interface Heatmap {
	seconds: number;
	rows: number;
	first_s: number;
	cells: Column;
	max: number;
}

export interface ValueHistogram {
	bins: { from: number; to: number; count: number }[];
	min: number;
	max: number;
	mean: number;
	p50: number;
	p90: number;
	p99: number;
	p999: number;
	count: number;
}

export interface ThreadLine {
	pid: number;
	tid: number;
	comm: string;
	first_ns: number;
	last_ns: number;
	samples: number;
	weight: number;
	cells: Column;
}

export interface Threads {
	from_ns: number;
	to_ns: number;
	threads: ThreadLine[];
	threads_in_all: number;
}

export interface DiffNodes {
	parent: Column;
	name: Column;
	self_before: Column;
	self_after: Column;
	total_before: Column;
	total_after: Column;
}

export interface DiffFunction {
	name: string;
	module: string;
	kind: FrameKind;
	self_before: number;
	self_after: number;
	total_before: number;
	total_after: number;
}

export interface Diff {
	event_before: string | null;
	event_after: string | null;
	total_before: number;
	total_after: number;
	samples_before: number;
	samples_after: number;
	names: FunctionName[];
	nodes: DiffNodes;
	functions: DiffFunction[];
}

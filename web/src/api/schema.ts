/* Made by tools/openapi-types from src/server/api/openapi/: change it there. */

/** Numbers: an array, or a typed one if they came as bytes. Code needs only length and [i]; NaN and null are gaps. */
export type Column = ArrayLike<number>;

export interface AnnotatedFunction {
	function: string;
	module?: string;
	build_id?: string;
	/** Its first address, hexadecimal. */
	start: string;
	/** The address behind it. */
	end: string;
	samples: number;
	weight: number;
	/** Of all samples of the selection. */
	share_of_all_pct: number;
	/** Why there is no code, in a sentence. */
	problem?: string;
	notes: string[];
	instructions: CodeInstruction[];
	/** Lines of source that code was made of. */
	lines: CodeLine[];
}

export interface Annotation {
	event: string | null;
	percent_type?: string;
	samples: number;
	weight: number;
	functions: AnnotatedFunction[];
	[more: string]: unknown;
}

export interface CodeInstruction {
	/** Hexadecimal, 0x…: 64 bits. */
	address: string;
	/** Bytes. */
	size: number;
	text: string;
	/** Only of instructions that go elsewhere. */
	flow?: 'jump' | 'call' | 'return';
	/** The address it goes to, if that is known. */
	target?: string;
	/** What the operand is the address of. */
	names?: string;
	/** The function that was inlined here. */
	inlined?: string;
	/** Of the line that it was made of. */
	file?: string;
	line?: number;
	samples: number;
	weight: number;
	/** Of the function's samples. */
	share_pct: number;
}

export interface CodeLine {
	file?: string;
	line: number;
	/** Not there if the source was not found. */
	text?: string;
	samples: number;
	weight: number;
	share_pct: number;
}

/** Where an array lies in an answer with `format=columns`. */
export interface ColumnPlace {
	type: 'u32' | 'u64' | 'i64' | 'f64';
	length: number;
	offset: number;
}

export interface CounterChange {
	name: string;
	unit: string | null;
	/** A value times this is in `unit`. */
	scale: number;
	/** null: it was not counted there. */
	before: CounterRates | null;
	/** null: it was not counted there. */
	after: CounterRates | null;
	/** Mean after minus mean before, a second; null: one side was not counted. */
	difference: number | null;
	/** Lower end of the interval that the difference is in with the `confidence` of the answer (Welch's t); null: a side has fewer than two readings. */
	low: number | null;
	/** Its upper end. */
	high: number | null;
	verdict: Verdict;
}

export interface CounterLine {
	name: string;
	unit: string | null;
	/** A value times this is in `unit`. */
	scale: number;
	cpu: number | null;
	thread: number | null;
	/** Where each point begins. */
	t: Column;
	/** A second; null where nothing was counted. */
	min: Column;
	max: Column;
	mean: Column;
	/** Of values. */
	sum: Column;
	/** What part of the time the counter ran, where it did least; 1,000,000: all of it. */
	running_ppm: Column;
}

/** A counter on one side of a comparison. */
export interface CounterRates {
	/** A second. */
	mean: number;
	/** How much the means of the slices vary (standard deviation), a second; null: there is only one. */
	stddev: number | null;
	/** Of all values. */
	sum: number;
	/** How many equal parts of the time `mean` and `stddev` are of: at most 20. */
	slices: number;
}

/** To be sent as `before`; null: there are no more. */
export type Cursor = string | null;

export interface Diff {
	/** The event that is compared. If none is named: the one that is shown of the run after, if both have it, else the one of the run before; runs without a common event are compared by what is shown of each. A name that is given for one side holds for the other, too, if that has such samples. */
	event_before: string | null;
	event_after: string | null;
	total_before: number;
	total_after: number;
	samples_before: number;
	samples_after: number;
	names: FunctionName[];
	nodes: DiffNodes;
	/** The largest changes of self first; shares of their own whole. */
	functions: DiffFunction[];
}

export interface DiffCounters {
	/** Of the intervals: 0.95. */
	confidence: number;
	/** Those of `before` first, in its order. */
	counters: CounterChange[];
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

export interface DiffNodes {
	parent: Column;
	name: Column;
	self_before: Column;
	self_after: Column;
	total_before: Column;
	total_after: Column;
}

export interface Error {
	error: {
		/** The HTTP status once more. */
		status: number;
		/** A word for programs: `not_found`, `bad_request` … */
		code: string;
		/** A sentence for people: what, where, and what to do. */
		message: string;
	};
}

export interface Event {
	/** As it is written in a plan. */
	name: string;
	/** Another name for the same. */
	alias: string | null;
	description: string | null;
	group: 'hw' | 'sw' | 'cache' | 'pmu' | 'tracepoint' | 'sdt' | 'probe' | 'raw';
	/** The unit of the hardware that counts it. */
	pmu: string | null;
	/** Of its values; null: a plain count. */
	unit: string | null;
	/** Whether it can be used here and now; null: it is a form to fill in, which cannot be tried. */
	available: boolean | null;
	/** Why it is not available. */
	reason: string | null;
	/** How often it was measured. */
	used: number;
	/** Variants, written as `NAME:MASK`. */
	masks: EventMask[];
}

export interface EventMask {
	name: string;
	description: string | null;
}

/** Names as `emap` lists them, with modifiers and groups as perf has them: `cycles:u`, `{a,b}`. */
export type EventNames = string[] | string;

export interface Events {
	events: Event[];
	next: Cursor;
	/** Sources of events that could not be read, and why. */
	problems: string[];
}

/** A sandwich has `callers` and `callees`; an ordered one has `thread`, `from_ns`, `to_ns` and `boxes`, and its sums are of that thread; the others have `nodes` and `hidden`. */
export interface Flame {
	event: string | null;
	unit: string | null;
	/** Of a table: the column that was added up. */
	column?: string;
	/** Of a table: rows with a negative value, which count nowhere. */
	rows_left_out?: number;
	/** Weight of all samples of the selection. */
	total: number;
	samples: number;
	/** Number 0 is the root. */
	names: FunctionName[];
	nodes?: FlameNodes;
	hidden?: FlameHidden;
	callers?: FlameTree;
	callees?: FlameTree;
	/** The one that is shown: of the selection's threads, that with most samples. null: there are no samples. */
	thread?: {
		pid: number;
		tid: number;
		comm: string;
	} | null;
	from_ns?: number;
	to_ns?: number;
	boxes?: FlameBoxes;
}

/** What was on the stack from when to when. Between boxes nothing was sampled for long. */
export interface FlameBoxes {
	/** In `names`. */
	name: Column;
	/** 0: called by nobody. A box lies within one of the depth above it. */
	depth: Column;
	/** Since the run's start, ascending. */
	from_ns: Column;
	to_ns: Column;
}

export interface FlameHidden {
	/** How many were too light to be shown. */
	nodes: number;
	/** What they have. */
	weight: number;
}

export interface FlameNodes {
	/** Node 0 is the root; parents come first. */
	parent: Column;
	/** In `names`. */
	name: Column;
	/** What was sampled in the function itself. */
	self: Column;
	/** With all below it. */
	total: Column;
	/** 1: inlined into the one above it. */
	inlined: Column;
}

export interface FlameTree {
	total: number;
	nodes: FlameNodes;
	hidden: FlameHidden;
}

/** What kind of code a function is. */
export type FrameKind = 'user' | 'kernel' | 'jit' | 'vdso' | 'unknown';

/** Name, module and kind of a function. */
export type FunctionName = [string, string, FrameKind];

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
	next: Cursor;
}

export interface Health {
	status: 'ok' | 'failing';
	/** If it is failing: a sentence that says why. */
	reason?: string;
}

export interface Heatmap {
	seconds: number;
	rows: number;
	first_s: number;
	/** Second by second, each with its rows. */
	cells: Column;
	max: number;
}

/** What is missing from the data and what measuring has cost. */
export interface Ledger {
	/** Taken in. */
	samples?: number;
	/** Samples that the kernel had no room for. */
	lost?: number;
	/** Times at which the kernel slowed sampling down. */
	throttled?: number;
	/** Readings of the counters. */
	intervals?: number;
	intervals_missed?: number;
	/** The interval that was used because reading took too long; 0: the one asked for. */
	interval_stretched_ns?: number;
	/** How late the latest reading of the counters was. */
	interval_worst_late_ns?: number;
	/** Read from the kernel, but not looked at yet. */
	waiting_bytes?: number;
	/** Stacks that were too deep to be kept whole. */
	cut_stacks?: number;
	/** Events that shared a counter of the CPU, with the part of the time in which they really counted. */
	multiplexed?: {
		event: string;
		running_ppm: number;
		[more: string]: unknown;
	}[];
	/** How late the newest data were. */
	behind_ns?: number;
	/** Samples that tacho itself left out. */
	dropped?: number;
	/** CPU time of all processes that measured. */
	collector_cpu_ns?: number;
	spilled_bytes?: number;
	/** Output of the workload beyond what is kept. */
	output_dropped_bytes?: number;
	/** Runs that were measured at the same time. */
	overlap?: ({
		run?: string;
		description?: string | null;
		from_ns?: number;
		/** null: it goes on. */
		to_ns?: number | null;
		[more: string]: unknown;
	})[];
	/** What is missing or not exact, in words. */
	warnings?: LedgerEntry[];
	[more: string]: unknown;
}

export interface LedgerAnswer {
	ledger: Ledger | null;
	/** Whether the data can be trusted; null: nothing was said yet. */
	verdict: {
		good: boolean;
		text: string;
		/** What to do about it. */
		more: string;
	} | null;
	entries: LedgerEntry[];
	notes: Note[];
}

/** A line of the ledger in words: the same that the page, the terminal and the report show. */
export interface LedgerEntry {
	/** The member of the ledger that it is about. */
	key: string;
	/** Something is missing, or not exact. */
	bad: boolean;
	name: string;
	value: string;
	/** What it means. */
	about: string;
	/** A few words for a label; null: it is not worth one. */
	words: string | null;
	/** null: there is nothing to tell. */
	sentence: string | null;
	/** What to do about it; null: nothing. */
	advice: string | null;
}

/** Resource limits of the workload; 0 or none: as they are. */
export interface Limits {
	cpu_s?: number | null;
	memory_bytes?: number | null;
	files?: number | null;
	processes?: number | null;
	file_bytes?: number | null;
}

export interface LiveCounter {
	/** What `id` of the values means. */
	id: number;
	name: string;
	/** Empty: a plain count. */
	unit: string;
	/** A value times this is in `unit`. */
	scale: number;
	cpu: number | null;
}

/** Values of counters, one in each place of the arrays. */
export interface LiveCounts {
	run: string;
	/** New ones. */
	counters: LiveCounter[];
	/** The end of the interval, ns since the run's start. */
	t: number[];
	id: number[];
	value: number[];
	/** Of the interval, ns. */
	duration: number[];
	/** What part of it the counter ran. */
	ppm: number[];
}

export interface LiveLedger {
	run: string;
	/** Taken in. */
	samples?: number;
	/** Samples that the kernel had no room for. */
	lost?: number;
	/** Times at which the kernel slowed sampling down. */
	throttled?: number;
	/** Readings of the counters. */
	intervals?: number;
	intervals_missed?: number;
	/** The interval that was used because reading took too long; 0: the one asked for. */
	interval_stretched_ns?: number;
	/** How late the latest reading of the counters was. */
	interval_worst_late_ns?: number;
	/** Read from the kernel, but not looked at yet. */
	waiting_bytes?: number;
	/** Stacks that were too deep to be kept whole. */
	cut_stacks?: number;
	/** Events that shared a counter of the CPU, with the part of the time in which they really counted. */
	multiplexed?: {
		event: string;
		running_ppm: number;
		[more: string]: unknown;
	}[];
	/** How late the newest data were. */
	behind_ns?: number;
	/** Samples that tacho itself left out. */
	dropped?: number;
	/** CPU time of all processes that measured. */
	collector_cpu_ns?: number;
	spilled_bytes?: number;
	/** Output of the workload beyond what is kept. */
	output_dropped_bytes?: number;
	/** Runs that were measured at the same time. */
	overlap?: ({
		run?: string;
		description?: string | null;
		from_ns?: number;
		/** null: it goes on. */
		to_ns?: number | null;
		[more: string]: unknown;
	})[];
	/** What is missing or not exact, in words. */
	warnings?: LedgerEntry[];
	[more: string]: unknown;
}

export interface LiveNote {
	run: string;
	text: string;
}

export interface LiveOutput {
	run: string;
	stream: 1 | 2;
	text: string;
	/** Bytes before it that are not shown. */
	left_out?: number;
}

export interface LiveQueue {
	running: string[];
	/** The next one first. */
	queued: string[];
}

/** What the call tree has gained. */
export interface LiveSamples {
	run: string;
	/** New ones. */
	names: FunctionName[];
	/** New ones: parent, name, inlined. */
	nodes: [number, number, number][];
	/** Event, node, samples, weight. */
	gain: [number, number, number, number][];
	events: string[];
	/** Number of the event that is shown if none is named: the busiest so far, changed when another is ahead by an eighth. */
	event: number;
	/** The time of the newest sample. */
	to_ns: number;
	/** In a snapshot, whose gain is the sum of all that happened: when it did, the newest 102 s of it. */
	rates?: {
		from_ns: number;
		step_ns: number;
		/** Of each event, in each step. */
		samples: number[][];
	};
}

export interface LiveTopic {
	topic: string;
}

export interface LiveUuid {
	uuid: string;
}

/** Where samples were lost or events throttled, and what tacho had to say meanwhile. */
export interface Mark {
	ns: number;
	kind: 'lost' | 'throttled' | 'note';
	/** Samples that were lost from here to the next pixel, or how often events were throttled. */
	count?: number;
	text?: string;
}

/** null: not yet, or unknown. */
export type MaybeTime = Time | null;

export interface Me {
	name: string;
	role: Role;
	server: {
		version: string;
		/** The name of the machine. */
		host: string;
		uptime_s: number;
		/** What a person should know of the state of the server: that its database was deleted or replaced, that recordings without a run were set aside at its start, that the clock cannot be believed. Sentences. */
		warnings: string[];
		/** Whose rights workloads have. */
		runs: {
			/** Whom they run as, unless a plan names somebody else. */
			user: string;
			/** Whether that is another user than the server's. Only then does the role `run` mean less than `administer`: any program of the server's own user can read and change all that the server has. */
			apart: boolean;
			/** The same as a sentence for people. */
			rights: string;
		};
		/** A program that is there to be profiled, with its arguments: the `workload` of a plan. */
		demo: string[];
	};
}

/** What tacho had to say while it measured. */
export interface Note {
	ns: number;
	text: string;
}

export interface OpenedEvent {
	name: string;
	counted?: boolean;
	sampled?: boolean;
	type?: number;
	/** As the kernel is given it, 64 bits: the highest one makes it negative. */
	config?: number;
	period?: number | null;
	frequency?: number | null;
	supported?: boolean;
	/** Why it could not be opened. */
	problem?: string | null;
	[more: string]: unknown;
}

/** What a run is to do: a workload to execute, or pids, tids or the whole system to watch. */
export interface Plan {
	/** A line for people. */
	description?: string | null;
	/** The command: one text, which is split at blanks and by quotes as a shell would, without anything else that a shell does; or its words. */
	workload?: string | string[] | null;
	/** Give the workload to `sh -c`. */
	shell?: boolean;
	/** Variables that are added to the environment. */
	env?: Record<string, string> | string[][];
	/** The directory, a whole path. */
	cwd?: string | null;
	/** Whom to run it as; needs the right to do so. In answers this is `run_as`. */
	user?: string | null;
	/** CPUs that it may use: `0-3,8`. */
	affinity?: string | null;
	/** Seconds after which it is ended; 0: never. */
	timeout?: number;
	limits?: Limits;
	/** Attach to these processes with all their threads. */
	pids?: number[];
	/** Attach to these threads alone. */
	tids?: number[];
	/** Watch everything. */
	system_wide?: boolean;
	/** Only these CPUs are watched. */
	cpus?: string | null;
	/** Seconds of watching; 0: until it is cancelled. */
	duration?: number;
	tool?: Tool;
	events?: EventNames;
	/** Seconds between two readings of the counters. */
	interval?: number;
	sample?: Sampling;
	/** Whether its data can be watched while they come. */
	streaming?: boolean;
	/** Keep the perf.data as well: then its download is exactly what was recorded. */
	keep_raw?: boolean;
	/** Nothing else that is exclusive is measured meanwhile. Without it: yes for a workload, no for what is watched. */
	exclusive?: boolean | null;
	tags?: string[];
	note?: string | null;
	/** Whatever the client wants to find again; at most 64 KiB. */
	client?: unknown;
}

export interface Points {
	names: FunctionName[];
	/** In `names`. */
	function: Column;
	t: Column;
	events: string[];
	/** In `events`. */
	event: Column;
	address: Column;
	address_of: 'data' | 'code';
	thinned_from: number;
}

export interface Process {
	pid: number;
	/** The command line; of a kernel thread its name in brackets. */
	command: string;
	/** The short name. */
	comm: string;
	user: string;
	threads: number;
	/** CPU time that it has used. */
	cpu_s: number;
	started_at: Time;
	/** Whether it belongs to the server's own user, who may always attach. */
	mine: boolean;
}

export interface Processes {
	processes: Process[];
	next: Cursor;
}

/** Of a run that waits or runs. */
export interface Progress {
	/** For how long it runs. */
	elapsed_s: number;
	/** How long earlier runs of the same command took; null: unknown. */
	expected_s: number | null;
	/** Until it ends; null: unknown. */
	eta_s: number | null;
	/** Until it starts; null: unknown. */
	starts_in_s: number | null;
	/** In the queue: 1 is next, 0 runs. */
	place: number;
	/** Of an import, how much has been read. */
	done_part: number;
}

export interface Queue {
	running: Run[];
	/** The next one first. */
	queued: Run[];
	next: Cursor;
}

/** `look`: sees everything. `run`: also starts, changes and deletes runs. `administer`: also adds and revokes users. */
export type Role = 'look' | 'run' | 'administer';

/** A run: every field of its plan, and what became of it. */
export interface Run {
	uuid: string;
	/** The session that it belongs to. */
	session: string;
	state: RunState;
	/** The command as it was written; null: something was watched, or read from a file. */
	workload: string | null;
	/** Variables that are added to the environment, in their order. */
	env?: [string, string][];
	events?: string[];
	sample?: RunSampling;
	/** The words that are executed. */
	argv: string[];
	exclusive: boolean;
	/** Who started it. */
	user: string | null;
	/** Whom the workload runs as; null: the server's own user. */
	run_as?: string | null;
	/** Of a run that was read from a file: the file's name. */
	import?: string | null;
	created_at: Time;
	started_at: MaybeTime;
	ended_at: MaybeTime;
	/** How long the workload ran, or was watched; without what the server itself did before and after it. */
	duration_s: number | null;
	exit_status: number | null;
	/** That ended the workload. */
	signal: number | null;
	timed_out: boolean;
	/** Why it failed, in a sentence. */
	error: string | null;
	tags: string[];
	/** The machine at that time: kernel, CPU, memory, frequency governor …; null: not yet. */
	environment: Record<string, unknown> | null;
	/** Events as they were opened; null: not yet. */
	opened_events: OpenedEvent[] | null;
	/** What its times are measured with. */
	clock: string | null;
	workload_pid: number | null;
	/** null: nothing was said yet. */
	ledger: Ledger | null;
	samples: number;
	/** That it takes in the store. */
	bytes: number;
	/** Whether its perf.data was kept. */
	raw: boolean;
	/** null: it has ended. */
	progress: Progress | null;
	links: RunLinks;
	/** A line for people. */
	description: string | null;
	/** Give the workload to `sh -c`. */
	shell?: boolean;
	/** The directory, a whole path. */
	cwd?: string | null;
	/** CPUs that it may use: `0-3,8`. */
	affinity?: string | null;
	/** Seconds after which it is ended; 0: never. */
	timeout?: number;
	limits?: Limits;
	/** Attach to these processes with all their threads. */
	pids?: number[];
	/** Attach to these threads alone. */
	tids?: number[];
	/** Watch everything. */
	system_wide?: boolean;
	/** Only these CPUs are watched. */
	cpus?: string | null;
	/** Seconds of watching; 0: until it is cancelled. */
	duration?: number;
	tool?: Tool;
	/** Seconds between two readings of the counters. */
	interval?: number;
	/** Whether its data can be watched while they come. */
	streaming?: boolean;
	/** Keep the perf.data as well: then its download is exactly what was recorded. */
	keep_raw?: boolean;
	note: string | null;
	/** Whatever the client wants to find again; at most 64 KiB. */
	client?: unknown;
}

/** Where its files and the stream are. */
export interface RunLinks {
	self: string;
	json: string;
	csv: string;
	jsonl: string;
	h5: string;
	data: string;
	folded: string;
	svg: string;
	html: string;
	log: string;
	live: string;
	session: string;
}

/** How samples are taken, with the defaults written out: by a frequency or by a period. */
export interface RunSampling {
	events: string[];
	frequency?: number;
	period?: number;
	callgraph: string | null;
	filter?: string | null;
}

/** `interrupted`: the server ended while it ran; what had come in is kept. */
export type RunState = 'queued' | 'running' | 'done' | 'failed' | 'cancelled' | 'interrupted';

export interface RunWords {
	note?: string | null;
	tags?: Tags;
	description?: string | null;
}

export interface Runs {
	runs: Run[];
	next: Cursor;
}

export interface SampleLine {
	event: string;
	t: Column;
	/** A second. */
	rate: Column;
	count: Column;
}

export interface Sampling {
	events?: EventNames;
	/** Samples a second on each CPU that is busy. */
	frequency?: number;
	/** A sample every so many events, instead of a frequency. */
	period?: number;
	/** How stacks are found: `fp`, `dwarf`, `dwarf,SIZE`, `lbr` or `none`. */
	callgraph?: string | null;
	/** Only samples whose fields meet this condition, in the grammar of the kernel's event filters: `prev_pid == 0 && next_comm ~ "ba*"`. All `events` must be tracepoints then. */
	filter?: string | null;
}

export interface Session {
	uuid: string;
	title: string;
	created_at: Time;
	/** A page of its runs, the newest first. */
	runs: Run[];
	next: Cursor;
}

/** A session as lists show it. */
export interface SessionHead {
	uuid: string;
	title: string;
	created_at: Time;
	/** How many runs it has. */
	runs: number;
}

export interface SessionTitle {
	title: string;
}

export interface Sessions {
	sessions: SessionHead[];
	next: Cursor;
}

export interface Table {
	name: string;
	meaning: string;
	shape: 'point' | 'span';
	sampled: boolean;
	rows: number;
	first_ns: number;
	last_ns: number;
	columns: TableColumn[];
}

/** One value of a row. The type and unit are those of its column. */
export type TableCell = string | number | (string | number)[] | null;

export interface TableColumn {
	name: string;
	type: 'unsigned' | 'signed' | 'float' | 'time' | 'duration' | 'address' | 'string' | 'stack' | 'thread' | 'event' | 'counter' | 'cpu';
	role: 'value' | 'time' | 'end' | 'thread' | 'cpu' | 'stack' | 'weight' | 'key';
	unit: string | null;
	meaning: string;
	bytes: number;
	derived: boolean;
	text: boolean;
	number: boolean;
}

export interface TableGroup {
	keys: TableCell[];
	count: number;
	sum?: number | null;
	min?: number | null;
	mean?: number | null;
	max?: number | null;
	p50?: number | null;
	p90?: number | null;
	p99?: number | null;
}

export interface TableGroups {
	matched: number;
	groups_in_all: number;
	rows_left_out: number;
	percentile_error: number;
	groups: TableGroup[];
}

export interface TableHeat {
	matched: number;
	from_ns: number;
	to_ns: number;
	pixels: number;
	rows: number;
	min: number;
	max: number;
	/** Number of rows of the table in each cell: by ascending time, and for each time by ascending value. */
	cells: Column;
}

export interface TableLane {
	/** Number of the CPU if lanes are CPUs. 65536 stands for all CPUs with a larger number. */
	cpu?: number;
	/** Process, thread and name, if lanes are threads. */
	thread?: [number, number, string];
	/** Sum of the overlaps of its spans with all cells. Saturates at 2^64 - 1. */
	covered_ns: number;
	/** Number of spans that start in the cells. */
	starts: number;
	/** Index of its first cell in the columns `cell` to `longest_start_ns`. */
	first: number;
	/** Number of its cells in these columns. */
	count: number;
}

export interface TableLanes {
	table: string;
	by: 'cpu' | 'thread';
	/** Start of the first cell: at or before the start of the window. */
	from_ns: number;
	/** End of the last cell. */
	to_ns: number;
	/** Width of a cell, a power of two. */
	cell_ns: number;
	/** Number of cells along the time axis. */
	pixels: number;
	/** Number of lanes with spans in the cells; `lanes` has the busiest of them. */
	lanes_in_all: number;
	/** Sum of `covered_ns` over the lanes that are left out. */
	rest_covered_ns: number;
	/** Sum of `starts` over the lanes that are left out. */
	rest_starts: number;
	/** By descending `covered_ns`, then by descending `starts`. */
	lanes: TableLane[];
	/** Name of the column that spans are named by; null: none. */
	key: string | null;
	/** Distinct values of the column `key` in the longest spans of the cells, in the form that rows have. */
	keys: TableCell[];
	/** Index in `keys` of the longest span that touches the cell. */
	longest_key: Column;
	/** Number of the cell along the time axis. The cells of a lane ascend; cells without spans are left out. */
	cell: Column;
	/** Sum of the overlaps of all spans with the cell. Saturates at 2^64 - 1. */
	covered_ns: Column;
	/** Number of spans that start in the cell. */
	starts: Column;
	/** Duration of the longest span that touches the cell. Of equally long spans, the one that starts first counts. */
	longest_ns: Column;
	/** Start of that span. */
	longest_start_ns: Column;
}

export interface TableRows {
	table: string;
	matched: number;
	offset: number;
	columns: TableColumn[];
	rows: TableCell[][];
}

export interface Tables {
	tables: Table[];
}

export type Tags = string[];

export interface ThreadLine {
	pid: number;
	tid: number;
	comm: string;
	first_ns: number;
	last_ns: number;
	samples: number;
	weight: number;
	/** Weight, evenly spaced from `from_ns` to `to_ns`. */
	cells: Column;
}

export interface Threads {
	from_ns: number;
	to_ns: number;
	threads: ThreadLine[];
	threads_in_all: number;
}

/** UTC with milliseconds. */
export type Time = string;

export interface Timeline {
	from_ns: number;
	to_ns: number;
	counters: CounterLine[];
	samples: SampleLine[];
	marks: Mark[];
}

/** Count at intervals, take samples, or both. With `record` and no `sample`, the `events` are sampled. */
export type Tool = 'stat' | 'record' | 'both';

export interface User {
	name: string;
	role: Role;
	created_at: Time;
	revoked_at: MaybeTime;
}

export interface Users {
	users: User[];
	next: Cursor;
}

export interface ValueHistogram {
	bins: {
		from: number;
		to: number;
		count: number;
	}[];
	min: number;
	max: number;
	mean: number;
	p50: number;
	p90: number;
	p99: number;
	p999: number;
	count: number;
}

/** `more`, `less`: the whole interval is above or below 0. `unclear`: 0 is in it, so the difference may be chance. `unknown`: there is no interval. */
export type Verdict = 'more' | 'less' | 'unclear' | 'unknown';

/* Threads as rows of a table: grouped by process, sorted, and chosen by clicks. */
import type { Column, ThreadLine } from '../../api/types';
import { sortRows, type Sort, type SortValue } from './table_sort';

export interface ThreadRow {
	/** A process is listed above its threads. */
	kind: 'process' | 'thread';
	key: string;
	pid: number;
	tid: number;
	name: string;
	/** All names that it had, in time: a thread that starts another program takes its name. */
	names: string[];
	/** Of a process: number of its threads. */
	threads: number;
	samples: number;
	/** Share of the whole selection, 0…1. */
	share: number;
	firstNs: number;
	lastNs: number;
	/** Weight over time. */
	cells: Column;
}

export const THREAD_SORTS = ['name', 'id', 'samples', 'first'] as const;

/** A thread with all the names that it had. */
type Merged = ThreadLine & { names: string[] };
type Numbers = Pick<ThreadLine, 'samples' | 'weight'>;

function keyOf(t: ThreadLine): string {
	return `${t.pid}/${t.tid}`;
}

function addCells(lines: ThreadLine[]): Float64Array {
	const sum = new Float64Array(Math.max(0, ...lines.map((t) => t.cells.length)));
	for (const { cells } of lines) for (let i = 0; i < cells.length; i++) sum[i]! += cells[i]!;
	return sum;
}

/** A thread that changes its name comes as several lines: merges them. */
function mergeNames(lines: ThreadLine[]): Merged[] {
	const threads = new Map<string, ThreadLine[]>();
	for (const t of lines) threads.set(keyOf(t), [...(threads.get(keyOf(t)) ?? []), t]);
	return [...threads.values()].map((same) => {
		const inTime = [...same].sort((a, b) => a.first_ns - b.first_ns);
		const heaviest = same.reduce((a, b) => (b.weight > a.weight ? b : a));
		return {
			...heaviest,
			names: inTime.map((t) => t.comm),
			first_ns: inTime[0]!.first_ns,
			last_ns: Math.max(...same.map((t) => t.last_ns)),
			samples: same.reduce((sum, t) => sum + t.samples, 0),
			weight: same.reduce((sum, t) => sum + t.weight, 0),
			cells: same.length > 1 ? addCells(same) : heaviest.cells,
		};
	});
}

function threadRow(t: Merged, now: Numbers, whole: number): ThreadRow {
	return {
		kind: 'thread',
		key: keyOf(t),
		pid: t.pid,
		tid: t.tid,
		name: t.comm,
		names: t.names,
		threads: 1,
		samples: now.samples,
		share: whole ? now.weight / whole : 0,
		firstNs: t.first_ns,
		lastNs: t.last_ns,
		cells: t.cells,
	};
}

function processRow(lines: ThreadLine[], members: ThreadRow[]): ThreadRow {
	const { pid } = members[0]!;
	const main = members.find((t) => t.tid === pid) ?? members[0]!;
	return {
		kind: 'process',
		key: String(pid),
		pid,
		tid: pid,
		name: main.name,
		names: main.names,
		threads: members.length,
		samples: members.reduce((sum, t) => sum + t.samples, 0),
		share: members.reduce((sum, t) => sum + t.share, 0),
		firstNs: Math.min(...members.map((t) => t.firstNs)),
		lastNs: Math.max(...members.map((t) => t.lastNs)),
		cells: addCells(lines),
	};
}

function valueOf(key: string): (t: ThreadRow) => SortValue {
	if (key === 'name') return (t) => t.name.toLowerCase();
	if (key === 'id') return (t) => t.tid;
	if (key === 'first') return (t) => t.firstNs;
	return (t) => t.share;
}

/** Strips are drawn from @lines; numbers come from @numbers, which has only the selection. */
export function threadRows(lines: ThreadLine[], numbers: ThreadLine[], sort: Sort): ThreadRow[] {
	const now = new Map(mergeNames(numbers).map((t) => [keyOf(t), t]));
	const whole = numbers.reduce((sum, t) => sum + t.weight, 0);
	const none: Numbers = { samples: 0, weight: 0 };
	const processes = new Map<number, Merged[]>();
	const drawn = new Set(lines.map(keyOf));
	const undrawn = numbers.filter((t) => !drawn.has(keyOf(t))).map((t) => ({ ...t, cells: [] }));
	for (const t of mergeNames([...lines, ...undrawn])) {
		const known = processes.get(t.pid);
		if (known) known.push(t);
		else processes.set(t.pid, [t]);
	}
	const groups = [...processes.values()].map((members) => {
		const rows = members.map((t) => threadRow(t, now.get(keyOf(t)) ?? none, whole));
		return { head: processRow(members, rows), rows };
	});
	const value = valueOf(sort.key);
	return sortRows(groups, sort.down, (g) => value(g.head)).flatMap((g) => {
		// A process with one thread is a single row.
		if (g.rows.length === 1) return [{ ...g.head, key: g.rows[0]!.key, tid: g.rows[0]!.tid }];
		return [g.head, ...sortRows(g.rows, sort.down, value)];
	});
}

function numbersOf(list: string | null): number[] {
	return (list ?? '').split(',').filter(Boolean).map(Number);
}

interface ThreadFilter {
	threads: string | null;
	pids: string | null;
}

export function isChosen(row: ThreadRow, filter: ThreadFilter): boolean {
	if (row.kind === 'process' && numbersOf(filter.pids).includes(row.pid)) return true;
	return row.kind === 'thread' && numbersOf(filter.threads).includes(row.tid);
}

/** The filter after a click: chooses only @row, or with @add toggles it. Without @add, a click on
 * the only chosen row clears the filter. */
export function choose(row: ThreadRow, filter: ThreadFilter, add: boolean): ThreadFilter {
	const field = row.kind === 'process' ? 'pids' : 'threads';
	const id = row.kind === 'process' ? row.pid : row.tid;
	const old = numbersOf(filter[field]);
	const had = old.includes(id);
	const alone = had && old.length === 1;
	// The server requires both filters to match: people mean one kind at a time.
	const none: ThreadFilter = { threads: null, pids: null };
	if (!add) return alone ? none : { ...none, [field]: String(id) };
	const rest = had ? old.filter((x) => x !== id) : [...old, id];
	return { ...none, [field]: rest.length ? rest.join(',') : null };
}

/** The largest cell: it fills the height of a strip. */
export function highestCell(rows: readonly ThreadRow[], kind: ThreadRow['kind']): number {
	let max = 0;
	for (const row of rows)
		if (row.kind === kind)
			for (let i = 0; i < row.cells.length; i++) max = Math.max(max, row.cells[i]!);
	return max;
}

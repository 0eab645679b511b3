/* Processes and their threads: when each was active, and its share of the samples. */
import { useMemo } from 'preact/hooks';
import type { Threads } from '../../api/types';
import type { Window } from '../../logic/address';
import { plural } from '../../logic/format';
import { formatSort, parseSort } from '../../logic/tables/table_sort';
import {
	choose,
	highestCell,
	isChosen,
	THREAD_SORTS,
	threadRows,
	type ThreadRow,
} from '../../logic/tables/thread_rows';
import { formatShare, formatWindow } from '../../logic/units';
import { address, go } from '../../state/address';
import { useQuestion, type Question } from '../../state/questions';
import { selected, windowQuery } from '../../state/selection';
import { px } from '../../state/scale';
import { NoSamples } from '../parts/no_samples';
import { NoAnswer } from '../parts/no_answer';
import { Loading } from '../parts/states';
import { Strip } from '../app/strip';
import { useSize } from '../parts/use_size';
import { VirtualTable, type TableColumn } from '../parts/virtual';
import './threads.css';

/** Bars of a strip: it is a few hundred pixels wide, so each bar has a few of them. */
const PIXELS = 150;
/** Below this width only the most important columns are left. */
const NARROW = 540;
/** This table chooses these filters: rows that they exclude must stay, to be clicked. */
const NO_FILTER = { threads: null, pids: null };
const USUAL = { key: 'samples', down: true };

/** Strips cover the visible range of the timeline, whatever is brushed. */
function stripQuestion(): Question | null {
	const q = selected('threads', { pixels: PIXELS, ...NO_FILTER }, true);
	const range = { from: null, to: null, ...windowQuery(address.value.zoom) };
	return q && { ...q, query: { ...q.query, ...range } };
}

/** Numbers cover the brushed window; null if the answer for the strips already has them. */
function numberQuestion(): Question | null {
	const { window, zoom } = address.value;
	if (window ? window.from === zoom?.from && window.to === zoom.to : !zoom) return null;
	return selected('threads', { pixels: 1, ...NO_FILTER }, true);
}

export function ThreadsView() {
	const strips = useQuestion<Threads>(stripQuestion);
	const numbers = useQuestion<Threads>(numberQuestion);
	const { data, error, loading } = strips.value;
	const mine = numberQuestion() ? numbers.value.data : data;
	const problem = error ?? numbers.value.error;
	if (problem && !(data && mine)) return <NoAnswer error={problem} />;
	if (!data || !mine)
		return loading || numbers.value.loading ? (
			<Loading what="Looking at threads…" />
		) : (
			<NoSamples />
		);
	if (!data.threads.length && !mine.threads.length) return <NoSamples />;
	return <ThreadTable strips={data} numbers={mine} />;
}

function ThreadTable(props: { strips: Threads; numbers: Threads }) {
	const { strips, numbers } = props;
	const { window, threads, pids, sort: sortText } = address.value;
	const { ref, width } = useSize<HTMLDivElement>();
	const sort = parseSort(sortText, THREAD_SORTS, USUAL);
	const rows = useMemo(
		() => threadRows(strips.threads, numbers.threads, sort),
		[strips, numbers, sort.key, sort.down],
	);
	const columns = useMemo(() => columnsOf(rows, strips, window, width), [rows, window, width]);
	const filter = { threads, pids };
	const left = strips.threads_in_all - strips.threads.length;
	const pick = (row: ThreadRow, e: MouseEvent | KeyboardEvent) =>
		go(choose(row, filter, e.ctrlKey || e.metaKey));
	return (
		<div class="threads-view" ref={ref}>
			<p class="threads-note small dim">
				{left > 0 &&
					`The ${strips.threads.length.toLocaleString('en')} heaviest of ${plural(strips.threads_in_all, 'thread')}. `}
				Choose a process or a thread to see only it everywhere
				{width < px(NARROW) ? '.' : '; with Ctrl, several.'}
			</p>
			<VirtualTable
				label="Processes and threads"
				rows={rows}
				columns={columns}
				keyOf={(t) => t.kind + t.key}
				minWidth={320}
				sort={sort}
				onSort={(s) => go({ sort: formatSort(s) }, true)}
				onOpen={pick}
				onKey={(row, e) => {
					if (e.key !== ' ') return false;
					go(choose(row, filter, true));
					return true;
				}}
				chosen={(row) => isChosen(row, filter)}
				rowClass={(row) => `is-${row.kind} ${row.samples ? '' : 'is-idle'}`}
			/>
		</div>
	);
}

function stripColumn(
	rows: ThreadRow[],
	strips: Threads,
	window: Window | null,
	width: number,
): TableColumn<ThreadRow> {
	const max = { process: highestCell(rows, 'process'), thread: highestCell(rows, 'thread') };
	const range = { from: strips.from_ns, to: strips.to_ns };
	return {
		key: 'first',
		title: width < px(NARROW) ? 'Active' : `Active, ${formatWindow(range.from, range.to)}`,
		hint: 'When it was sampled; click to sort by the first time',
		width: width < px(NARROW) ? 'minmax(80px, 1fr)' : 'minmax(110px, 2fr)',
		sort: 'up',
		cell: (t) => (
			<Strip
				cells={t.cells}
				max={max[t.kind]}
				range={range}
				window={window}
				width={width}
				colour={t.kind === 'process' ? '--series-1' : '--series-6'}
			/>
		),
	};
}

function columnsOf(
	rows: ThreadRow[],
	strips: Threads,
	window: Window | null,
	width: number,
): TableColumn<ThreadRow>[] {
	const columns: TableColumn<ThreadRow>[] = [
		{
			key: 'name',
			title: width < px(NARROW) ? 'Process' : 'Process and thread',
			width: width < px(NARROW) ? 'minmax(130px, 1.4fr)' : 'minmax(110px, 1fr)',
			sort: 'up',
			cell: (t) => (
				<span class="thread-name" title={t.names.join(' → ')}>
					{t.name}
					{t.threads > 1 && width >= px(NARROW) && (
						<span class="dim small"> {plural(t.threads, 'thread')}</span>
					)}
				</span>
			),
		},
		{
			key: 'id',
			title: 'Number',
			hint: 'The process (PID) or the thread (TID), as the system numbers them',
			width: '84px',
			number: true,
			sort: 'up',
			cell: (t) => t.tid,
		},
		{
			key: 'samples',
			title: 'Samples',
			hint: 'In the window that is selected',
			width: '80px',
			number: true,
			sort: 'down',
			cell: (t) => t.samples.toLocaleString('en'),
		},
		{
			key: 'share',
			title: 'Share',
			hint: 'Of all threads in the window that is selected',
			width: '80px',
			number: true,
			cell: (t) => formatShare(t.share),
		},
		stripColumn(rows, strips, window, width),
	];
	const wide = ['id', 'samples'];
	return width < px(NARROW) ? columns.filter((c) => !wide.includes(c.key)) : columns;
}

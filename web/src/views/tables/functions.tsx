/* All functions of the selection: the share of each alone, and with all it called. */
import { useMemo } from 'preact/hooks';
import type { Functions } from '../../api/types';
import { directionOf, formatPoints } from '../../logic/tables/change';
import { plural } from '../../logic/format';
import {
	arrange,
	FUNCTION_SORTS,
	functionLines,
	functionsTsv,
	searchFor,
	type FunctionLine,
} from '../../logic/tables/function_rows';
import { rowFilter, type RowFilter } from '../../logic/tables/row_filter';
import { sampledEvents } from '../../logic/timeline/sampled';
import { formatSort, parseSort } from '../../logic/tables/table_sort';
import { formatCount, formatShare } from '../../logic/units';
import { address, go } from '../../state/address';
import { copyText } from '../../state/copy';
import { useQuestion, type Answer } from '../../state/questions';
import { run } from '../../state/runs';
import { otherSide, selected } from '../../state/selection';
import { px } from '../../state/scale';
import { EventChoice } from '../new_run/event_choice';
import { FilterInput } from '../parts/filter_input';
import { NoSamples } from '../parts/no_samples';
import { NoAnswer } from '../parts/no_answer';
import { Empty, Loading } from '../parts/states';
import { useSize } from '../parts/use_size';
import { VirtualTable, type TableColumn } from '../parts/virtual';
import '../parts/change.css';
import './functions.css';

const PAGE = { limit: 1000 };
/** Below this width the table has only the most important columns. */
const NARROW = 560;
const WIDE_ONLY = ['total', 'totalChange', 'module', 'kind'];
const USUAL = { key: 'self', down: true };

export function FunctionsView() {
	const mine = useQuestion<Functions>(() => {
		const q = selected('functions', PAGE);
		return q && { ...q, pages: 'functions' };
	});
	const theirs = useQuestion<Functions>(() => {
		const other = otherSide('functions', mine.value.data?.event ?? null, PAGE);
		return other && { ...other.question, pages: 'functions' };
	});
	const { data, error, loading } = mine.value;
	if (!data && error) return <NoAnswer error={error} />;
	if (!data) return loading ? <Loading what="Adding up functions…" /> : <NoSamples />;
	if (!data.samples && !theirs.value.data?.samples) return <NoSamples />;
	return <FunctionTable mine={data} theirs={theirs.value} loading={loading} />;
}

function FunctionTable(props: { mine: Functions; theirs: Answer<Functions>; loading: boolean }) {
	const { mine, theirs } = props;
	const { filter: filterText, sort: sortText } = address.value;
	const other = otherSide('functions', mine.event, PAGE);
	const compared = other && theirs.data ? theirs.data : null;
	const before = other?.before ?? false;
	const lines = useMemo(
		() => functionLines(mine, compared && { functions: compared, before }),
		[mine, compared, before],
	);
	const filter = useMemo(() => rowFilter(filterText), [filterText]);
	const sort = parseSort(sortText, FUNCTION_SORTS, USUAL);
	const rows = useMemo(() => arrange(lines, filter, sort), [lines, filter, sort.key, sort.down]);
	const { ref, width } = useSize<HTMLDivElement>();
	const against = compared ? other!.name : null;
	const columns = useMemo(() => {
		const all = columnsOf(filter, against);
		return width < px(NARROW) ? all.filter((c) => !WIDE_ONLY.includes(c.key)) : all;
	}, [filter, against, width < px(NARROW)]);
	return (
		<div class="functions-view" ref={ref}>
			<FunctionBar
				filter={filter}
				event={mine.event}
				shown={rows.length}
				all={lines.length}
				loading={props.loading}
				copy={() =>
					copyText(
						functionsTsv(rows, compared !== null),
						`${plural(rows.length, 'function')} copied; paste them into a spreadsheet.`,
					)
				}
			/>
			{other && theirs.error && (
				<p class="functions-note" role="alert">
					The comparison with {other.name} is not there: {theirs.error.message}
				</p>
			)}
			<VirtualTable
				label="Functions"
				rows={rows}
				columns={columns}
				keyOf={(f) => `${f.name}\n${f.module}\n${f.kind}`}
				minWidth={width < px(NARROW) ? 340 : compared ? 800 : 660}
				sort={sort}
				onSort={(s) => go({ sort: formatSort(s) }, true)}
				onOpen={(f) => showInFlame(f, lines)}
				onKey={keyOnFunction}
				empty={
					<Empty title="No function matches">
						<button onClick={() => go({ filter: null }, true)}>Show all functions</button>
					</Empty>
				}
			/>
		</div>
	);
}

function showInFlame(f: FunctionLine, all: FunctionLine[]): void {
	go({ view: 'flame', mode: 'plain', search: searchFor(f, all), focus: null });
}

function showCallers(f: FunctionLine): void {
	go({ view: 'flame', mode: 'sandwich', function: f.name, module: f.module, focus: null });
}

function showCode(f: FunctionLine): void {
	go({ view: 'flame', annotate: `${f.name}\n${f.module}` });
}

function keyOnFunction(f: FunctionLine, e: KeyboardEvent): boolean {
	if (e.key === 'c' && !e.ctrlKey && !e.metaKey) showCode(f);
	else if (e.key === 's') showCallers(f);
	else return false;
	return true;
}

function FunctionBar(props: {
	filter: RowFilter;
	/** The event whose samples are shown. */
	event: string | null;
	shown: number;
	all: number;
	loading: boolean;
	copy: () => void;
}) {
	const { filter, shown, all } = props;
	const text = address.value.filter ?? '';
	return (
		<div class="functions-bar">
			<FilterInput filter={filter} />
			<EventChoice events={run.value ? sampledEvents(run.value) : []} event={props.event} />
			<span class="small dim" role="status">
				{text && !filter.problem
					? `${shown.toLocaleString('en')} of ${plural(all, 'function')}`
					: plural(all, 'function')}
				{props.loading && ' …'}
			</span>
			<button onClick={props.copy} disabled={!shown} title="With tabs between columns">
				Copy table
			</button>
		</div>
	);
}

function Marked(props: { filter: RowFilter; text: string }) {
	const pieces = props.filter.pieces(props.text);
	if (pieces.length === 1) return <>{props.text}</>;
	return <>{pieces.map((piece, i) => (i % 2 ? <mark key={i}>{piece}</mark> : piece))}</>;
}

/** Long numbers are shortened to fit; the title has all digits. */
function samplesText(samples: number): string {
	return samples < 100_000 ? samples.toLocaleString('en') : formatCount(samples);
}

/** The bar is for a quick look, the number for reading; samples tell how reliable it is. */
function Share(props: { part: number; samples: number }) {
	return (
		<span class="function-share" title={plural(props.samples, 'sample')}>
			<span class="share-bar" aria-hidden="true">
				<span style={{ width: `${Math.min(100, props.part * 100)}%` }} />
			</span>
			<span class="share-part">{props.part ? formatShare(props.part) : '0 %'}</span>
			<span class="share-samples dim">{samplesText(props.samples)}</span>
		</span>
	);
}

function Change(props: { change: number | null }) {
	if (props.change === null) return <span class="dim">–</span>;
	return <span class={'change-' + directionOf(props.change)}>{formatPoints(props.change)}</span>;
}

function changeColumn(
	key: 'selfChange' | 'totalChange',
	title: string,
	against: string,
): TableColumn<FunctionLine> {
	return {
		key,
		title,
		hint: `Points of per cent between this and ${against}, after less before`,
		width: '74px',
		number: true,
		sort: 'down',
		cell: (f) => <Change change={f[key]} />,
	};
}

function columnsOf(filter: RowFilter, against: string | null): TableColumn<FunctionLine>[] {
	const changes = against
		? [
				changeColumn('selfChange', 'Δ self', against),
				changeColumn('totalChange', 'Δ total', against),
			]
		: [];
	return [
		{
			key: 'name',
			title: 'Function',
			width: 'minmax(120px, 3fr)',
			sort: 'up',
			cell: (f) => <NameCell line={f} filter={filter} />,
		},
		{
			key: 'self',
			title: 'Self',
			hint: 'In the function itself, without what it called',
			width: '150px',
			sort: 'down',
			cell: (f) => <Share part={f.self} samples={f.selfSamples} />,
		},
		{
			key: 'total',
			title: 'Total',
			hint: 'In the function and in all that it called',
			width: '150px',
			sort: 'down',
			cell: (f) => <Share part={f.total} samples={f.totalSamples} />,
		},
		...changes,
		{
			key: 'module',
			title: 'Module',
			hint: 'The program or library that the function is in',
			width: 'minmax(90px, 1fr)',
			sort: 'up',
			cell: (f) => (
				<span title={f.module}>
					<Marked filter={filter} text={f.module} />
				</span>
			),
		},
		{ key: 'kind', title: 'Kind', width: '68px', sort: 'up', cell: (f) => f.kind },
	];
}

function NameCell(props: { line: FunctionLine; filter: RowFilter }) {
	const f = props.line;
	const act = (what: (f: FunctionLine) => void) => (e: MouseEvent) => {
		e.stopPropagation();
		what(f);
	};
	return (
		<span class="function-name">
			<code class="cut" title={f.name}>
				<Marked filter={props.filter} text={f.name} />
			</code>
			<span class="function-acts">
				<button
					class="plain"
					tabIndex={-1}
					title="Who calls it, and what it calls (s)"
					onClick={act(showCallers)}
				>
					Callers
				</button>
				<button
					class="plain"
					tabIndex={-1}
					title="Source and instructions with samples (c)"
					onClick={act(showCode)}
				>
					Code
				</button>
			</span>
		</span>
	);
}

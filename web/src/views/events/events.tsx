/* The Events tab: the tables of a run. Their rows can be sorted, filtered by a condition, grouped, and drawn by
 * the values of a column. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ApiError } from '../../api/client';
import type { Table, TableColumn } from '../../api/types';
import { EVENT_PARTS, type EventPart } from '../../logic/address';
import { plural } from '../../logic/format';
import { addTerm, namesIn, splitMarked } from '../../logic/rows/condition';
import {
	chosenTable,
	numberColumns,
	parseNames,
	usualColumns,
	varyingColumns,
	weightColumns,
} from '../../logic/rows/row_columns';
import { formatSort, parseSort, type Sort } from '../../logic/tables/table_sort';
import { address, go } from '../../state/address';
import { askTable, tablesOfRun } from '../../state/event_tables';
import { useRowPages, type RowsAnswer } from '../../state/row_pages';
import { run } from '../../state/runs';
import { Segments } from '../parts/form_parts';
import { NoAnswer } from '../parts/no_answer';
import { Empty, Loading } from '../parts/states';
import { ColumnMenu } from './column_menu';
import { ConditionField } from './condition_field';
import { EventFlame } from './event_flame';
import { EventGroups } from './event_groups';
import { EventHeat } from './event_heat';
import { EventHistogram } from './event_histogram';
import { NoRows } from './no_rows';
import { RowGrid } from './row_grid';
import type { Told } from './told';
import './events.css';

const PART_NAMES: Record<EventPart, string> = {
	rows: 'Rows',
	groups: 'Groups',
	histogram: 'Histogram',
	heatmap: 'Heat map',
	flame: 'Flame graph',
};

const USUAL: Sort = { key: 'time', down: false };

export function EventsView() {
	const tables = tablesOfRun();
	if (!tables) return <Loading what="Looking for events…" />;
	const table = chosenTable(tables, address.value.table);
	if (!table)
		return (
			<Empty title="No events with fields">
				<p>This run has not sampled a tracepoint. Sample one to see each hit with its fields.</p>
			</Empty>
		);
	return <OfTable key={`${run.value?.uuid} ${table.name}`} tables={tables} table={table} />;
}

/** The server's message about an invalid condition; null for other errors. */
function conditionProblem(error: Error | null): string | null {
	const refused = error instanceof ApiError && error.status === 400 && address.value.where;
	return refused && splitMarked(error.message).marked ? error.message : null;
}

function OfTable(props: { tables: Table[]; table: Table }) {
	const { tables, table } = props;
	const { part } = address.value;
	const numbers = numberColumns(table.columns);
	const weights = weightColumns(table.columns);
	const parts = EVENT_PARTS.filter(
		(p) => p === 'rows' || p === 'groups' || (p === 'flame' ? weights : numbers).length,
	);
	const now = parts.includes(part) ? part : 'rows';
	const [told, setTold] = useState<Told>({ matched: null, error: null, loading: true });
	const tell = useCallback(setTold, []);
	const problem = conditionProblem(told.error);
	return (
		<div class="events-view">
			<div class="events-bar">
				<TableChoice tables={tables} table={table} />
				<Segments
					label="How the events are shown"
					value={now}
					choices={parts.map((value) => ({ value, text: PART_NAMES[value] }))}
					onChange={(value) => go({ part: value })}
				/>
				<span class="small dim" role="status">
					{statusWords(told, table)}
				</span>
			</div>
			<div class="events-filter">
				<ConditionField problem={problem} example={exampleOf(table, numbers)} />
				{now === 'rows' && told.shown && <ColumnMenu columns={table.columns} shown={told.shown} />}
			</div>
			{told.error && !problem && <NoAnswer error={told.error} />}
			{now === 'rows' && <Rows table={table} tell={tell} />}
			{now === 'groups' && <EventGroups table={table} tell={tell} />}
			{now === 'histogram' && <EventHistogram table={table} tell={tell} />}
			{now === 'heatmap' && <EventHeat table={table} tell={tell} />}
			{now === 'flame' && <EventFlame table={table} tell={tell} />}
		</div>
	);
}

/** An example of a condition, made from two columns of the table. */
function exampleOf(table: Table, numbers: readonly TableColumn[]): string {
	const text = table.columns.find((c) => c.text && c.name !== 'event');
	const number = numbers[0];
	return [number ? `${number.name} > 0` : '', text ? `${text.name} ~ "a*"` : '']
		.filter(Boolean)
		.join(' && ');
}

/** The number of matching rows, and of all rows if the selection is narrowed. */
function statusWords(told: Told, table: Table): string {
	const { where, window, threads, pids, cpus, frames } = address.value;
	const narrowed = where || window || threads || pids || cpus || frames;
	const waits = told.loading ? ' …' : '';
	const matched = told.matched ?? table.rows;
	if (!narrowed || matched >= table.rows) return plural(matched, 'row') + waits;
	return `${matched.toLocaleString('en')} of ${plural(table.rows, 'row')}${waits}`;
}

function TableChoice(props: { tables: Table[]; table: Table }) {
	const { tables, table } = props;
	return (
		<select
			class="events-table"
			aria-label="Table of events"
			title={table.meaning || undefined}
			value={table.name}
			onChange={(e) =>
				go({
					table: e.currentTarget.value,
					where: null,
					by: null,
					value: null,
					columns: null,
					sort: null,
					focus: null,
				})
			}
		>
			{tables.map((t) => (
				<option key={t.name} value={t.name}>
					{t.name} ({plural(t.rows, 'row')})
				</option>
			))}
		</select>
	);
}

/** The visible columns. A column whose values were seen to vary stays visible while the table is open. */
function useNames(answer: RowsAnswer, sort: Sort): string[] {
	const { columns: text, where } = address.value;
	const varying = useRef(new Set<string>());
	return useMemo(() => {
		const rows = answer.pages.get(0) ?? [];
		for (const name of varyingColumns(answer.columns, rows)) varying.current.add(name);
		const used = [...namesIn(where), sort.key];
		return parseNames(text, answer.columns) ?? usualColumns(answer.columns, varying.current, used);
	}, [answer, text, where, sort.key]);
}

function Rows(props: { table: Table; tell: (told: Told) => void }) {
	const { table, tell } = props;
	const names = table.columns.map((c) => c.name);
	const sort = parseSort(address.value.sort, names, USUAL);
	const { answer, show } = useRowPages(() => {
		const by = parseSort(address.value.sort, names, USUAL);
		return askTable(table.name, 'rows', { sort: by.key, order: by.down ? 'desc' : 'asc' });
	});
	const now = answer.value;
	const shown = useNames(now, sort);
	const { error, loading } = now;
	const matched = now.of ? now.matched : null;
	useEffect(
		() => tell({ matched, error, loading, shown: matched === null ? undefined : shown }),
		[matched, error, loading, shown.join()],
	);
	if (error) return null;
	if (!now.of) return <Loading what="Reading rows…" />;
	if (!now.matched) return <NoRows />;
	return (
		<RowGrid
			answer={now}
			names={shown}
			label={`Rows of ${table.name}`}
			sort={sort}
			onSort={(s) => go({ sort: formatSort(s) }, true)}
			onRows={show}
			onTerm={(term) => go({ where: addTerm(address.peek().where, term) })}
		/>
	);
}

/* Groups of rows with equal values in one or two columns: number of rows, and statistics of another column. */
import { useEffect, useMemo } from 'preact/hooks';
import type { Table, TableColumn as Column, TableGroup, TableGroups } from '../../api/types';
import {
	groupNotes,
	parseBy,
	sortGroups,
	sortKeysOf,
	STATISTICS,
	usualBy,
	whereOfGroup,
} from '../../logic/rows/groups';
import {
	cellText,
	cellTitle,
	columnWidth,
	groupColumns,
	isNumeric,
	numberColumns,
	statisticText,
	statisticWidth,
} from '../../logic/rows/row_columns';
import { formatSort, parseSort } from '../../logic/tables/table_sort';
import { formatShare } from '../../logic/units';
import { address, go } from '../../state/address';
import { askTable } from '../../state/event_tables';
import { useQuestion } from '../../state/questions';
import { VirtualTable, type TableColumn } from '../parts/virtual';
import { Loading } from '../parts/states';
import { ColumnChoice } from './column_choice';
import { NoRows } from './no_rows';
import type { Told } from './told';

const GROUPS_MAX = 1000;
const USUAL = { key: 'count', down: true };

/** The columns in the address, or defaults for those that are not set. */
function chosen(table: Table) {
	const { by, value } = address.value;
	const columns = groupColumns(table.columns);
	const names = parseBy(by, columns);
	const usual = usualBy(columns);
	return {
		by: names.length || !usual ? names : [usual],
		value: numberColumns(table.columns).find((c) => c.name === value) ?? null,
	};
}

export function EventGroups(props: { table: Table; tell: (told: Told) => void }) {
	const { table, tell } = props;
	const answer = useQuestion<TableGroups>(() => {
		const { by, value } = chosen(table);
		const more = { by: by.join(','), value: value?.name, limit: GROUPS_MAX };
		return by.length ? askTable(table.name, 'group', more) : null;
	});
	const { data, error, loading, of } = answer.value;
	useEffect(() => tell({ matched: data?.matched ?? null, error, loading }), [data, error, loading]);
	// Until the new answer arrives, the previous answer stays, with the columns that it was made for.
	const by = String(of?.query.by ?? '').split(',');
	const value = table.columns.find((c) => c.name === of?.query.value) ?? null;
	return (
		<>
			<Choice table={table} {...chosen(table)} />
			{data && !error ? (
				<GroupTable table={table} data={data} by={by} value={value} />
			) : (
				!error && <Loading what="Grouping rows…" />
			)}
		</>
	);
}

function Choice(props: { table: Table; by: string[]; value: Column | null }) {
	const { table, by, value } = props;
	const columns = groupColumns(table.columns);
	const numbers = numberColumns(table.columns);
	const change = (first: string, second: string) =>
		go({ by: [first, second].filter(Boolean).join(','), sort: null }, true);
	return (
		<div class="event-tools">
			<ColumnChoice
				label="Group by"
				columns={columns}
				value={by[0] ?? ''}
				onChange={(name) => change(name, by[1] === name ? '' : (by[1] ?? ''))}
			/>
			<ColumnChoice
				label="and by"
				columns={columns.filter((c) => c.name !== by[0])}
				none="nothing else"
				value={by[1] ?? ''}
				onChange={(name) => change(by[0]!, name)}
			/>
			{numbers.length > 0 && (
				<ColumnChoice
					label="Statistics of"
					columns={numbers}
					none="no column"
					value={value?.name ?? ''}
					onChange={(name) => go({ value: name || null }, true)}
				/>
			)}
		</div>
	);
}

function GroupTable(props: {
	table: Table;
	data: TableGroups;
	by: string[];
	value: Column | null;
}) {
	const { table, data, by, value } = props;
	const numbers = by.map((name) => !!table.columns.find((c) => c.name === name && isNumeric(c)));
	const sort = parseSort(address.value.sort, sortKeysOf(by), USUAL);
	const rows = useMemo(
		() => sortGroups(data.groups, sort.key, sort.down, numbers),
		[data, sort.key, sort.down, numbers.join()],
	);
	const columns = useMemo(
		() => [...keyColumns(table, data, by), countColumn(data.matched), ...valueColumns(data, value)],
		[table, data, by.join(), value],
	);
	const open = (group: TableGroup) => {
		const where = whereOfGroup(address.value.where, group, by, table.columns);
		if (where) go({ where, part: 'rows', sort: null });
	};
	const total = columns.reduce((sum, c) => sum + Number(/(\d+)px/.exec(c.width)?.[1] ?? 0), 0);
	return (
		<>
			<VirtualTable
				label={`Rows grouped by ${by.join(' and ')}`}
				rows={rows}
				columns={columns}
				keyOf={(g) => JSON.stringify(g.keys)}
				rowHeight={28}
				minWidth={total}
				sort={sort}
				onSort={(s) => go({ sort: formatSort(s) }, true)}
				onOpen={open}
				empty={<NoRows />}
			/>
			<GroupNote data={data} />
		</>
	);
}

function keyColumns(table: Table, data: TableGroups, by: string[]): TableColumn<TableGroup>[] {
	const keys = data.groups.slice(0, 100).map((g) => g.keys);
	return by.flatMap((name, i) => {
		const c = table.columns.find((column) => column.name === name);
		if (!c) return [];
		return {
			key: `key${i}`,
			title: name,
			hint: c.meaning || undefined,
			width: `minmax(${columnWidth(c, i, keys)}px, ${i ? 1 : 2}fr)`,
			number: isNumeric(c),
			sort: 'up' as const,
			cell: (g: TableGroup) => (
				<span title={cellTitle(c, g.keys[i])}>{cellText(c, g.keys[i])}</span>
			),
		};
	});
}

function countColumn(matched: number): TableColumn<TableGroup> {
	return {
		key: 'count',
		title: 'Rows',
		width: 'minmax(84px, 1fr)',
		number: true,
		sort: 'down',
		cell: (g) => <span title={formatShare(g.count / matched)}>{g.count.toLocaleString('en')}</span>,
	};
}

function valueColumns(data: TableGroups, value: Column | null): TableColumn<TableGroup>[] {
	if (!value) return [];
	const error = formatShare(data.percentile_error);
	const shown = data.groups.slice(0, 100);
	const titled = STATISTICS.map((key) => ({
		key,
		title: key === 'sum' ? `sum of ${value.name}` : key,
		values: shown.map((g) => g[key]),
	}));
	return titled.map(({ key, title, values }) => ({
		key,
		title,
		hint: key.startsWith('p') ? `Percentile, off by ${error} at most` : undefined,
		width:
			key === 'sum'
				? `minmax(${statisticWidth(value, title, values)}px, 1fr)`
				: `${statisticWidth(value, title, values)}px`,
		number: true,
		sort: 'down' as const,
		cell: (g: TableGroup) => (
			<span title={String(g[key] ?? '')}>{statisticText(value, g[key])}</span>
		),
	}));
}

/** States how many groups and rows the table leaves out, if any. */
function GroupNote(props: { data: TableGroups }) {
	const notes = groupNotes(props.data);
	return notes.length ? <p class="event-note small dim">{notes.join(' ')}</p> : null;
}

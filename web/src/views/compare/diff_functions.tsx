/* Functions whose share has changed most. */
import { useMemo } from 'preact/hooks';
import type { Diff, DiffFunction } from '../../api/types';
import { directionOf, formatPoints } from '../../logic/tables/change';
import { DIFF_SORTS, selfChange, sortChanges, totalChange } from '../../logic/tables/compare';
import { rowFilter } from '../../logic/tables/row_filter';
import { formatSort, parseSort } from '../../logic/tables/table_sort';
import { formatShare } from '../../logic/units';
import { address, go } from '../../state/address';
import { px } from '../../state/scale';
import { FilterInput } from '../parts/filter_input';
import { Empty } from '../parts/states';
import { useSize } from '../parts/use_size';
import { VirtualTable, type TableColumn } from '../parts/virtual';

const USUAL = { key: 'self', down: true };
const NARROW = 620;
const WIDE_ONLY = ['module', 'total'];

function share(key: 'before' | 'after', title: string): TableColumn<DiffFunction> {
	const field = key === 'before' ? 'self_before' : 'self_after';
	return {
		key,
		title,
		hint: 'Share in the function itself, without what it called',
		width: '82px',
		number: true,
		sort: 'down',
		cell: (f) => (f[field] ? formatShare(f[field]) : <span class="dim">–</span>),
	};
}

function change(
	key: 'self' | 'total',
	title: string,
	of: (f: DiffFunction) => number,
	hint: string,
): TableColumn<DiffFunction> {
	return {
		key,
		title,
		hint,
		width: '96px',
		number: true,
		sort: 'down',
		cell: (f) => <span class={'change-' + directionOf(of(f))}>{formatPoints(of(f))}</span>,
	};
}

const COLUMNS: TableColumn<DiffFunction>[] = [
	{
		key: 'name',
		title: 'Function',
		width: 'minmax(130px, 3fr)',
		sort: 'up',
		cell: (f) => (
			<code class="cut" title={f.name}>
				{f.name}
			</code>
		),
	},
	share('before', 'Before'),
	share('after', 'After'),
	change('self', 'Δ points', selfChange, 'Change of the share in the function itself'),
	change('total', 'Δ total', totalChange, 'Change of the share in the function and all it called'),
	{
		key: 'module',
		title: 'Module',
		hint: 'The program or library that the function is in',
		width: 'minmax(90px, 1fr)',
		sort: 'up',
		cell: (f) => f.module,
	},
];

export function DiffFunctions(props: { diff: Diff }) {
	const { functions } = props.diff;
	const { filter: text, sort: sortText } = address.value;
	const { ref, width } = useSize<HTMLDivElement>();
	const sort = parseSort(sortText, DIFF_SORTS, USUAL);
	const filter = useMemo(() => rowFilter(text), [text]);
	const rows = useMemo(
		() =>
			sortChanges(
				functions.filter((f) => filter.matches(f.name, f.module)),
				sort,
			),
		[functions, filter, sort.key, sort.down],
	);
	const narrow = width < px(NARROW);
	return (
		<div class="diff-functions" ref={ref}>
			<div class="diff-filter">
				<FilterInput filter={filter} />
			</div>
			<VirtualTable
				label="Functions by change of share"
				rows={rows}
				columns={narrow ? COLUMNS.filter((c) => !WIDE_ONLY.includes(c.key)) : COLUMNS}
				keyOf={(f) => `${f.name}\n${f.module}\n${f.kind}`}
				minWidth={narrow ? 390 : 620}
				sort={sort}
				onSort={(s) => go({ sort: formatSort(s) }, true)}
				onOpen={(f) => go({ diff: 'flame', search: f.name, focus: null })}
				empty={
					<Empty title="No function matches">
						<button onClick={() => go({ filter: null }, true)}>Show all</button>
					</Empty>
				}
			/>
		</div>
	);
}

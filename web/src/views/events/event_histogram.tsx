/* How the values of a column are spread. */
import { useEffect, useState } from 'preact/hooks';
import type { Table, TableColumn, ValueHistogram } from '../../api/types';
import { plural } from '../../logic/format';
import { numberColumns, unitOf } from '../../logic/rows/row_columns';
import { sumUnit } from '../../logic/units';
import { address, go } from '../../state/address';
import { askTable } from '../../state/event_tables';
import { useQuestion } from '../../state/questions';
import { Loading } from '../parts/states';
import { useSize } from '../parts/use_size';
import { BinTable, binsFor, HistogramSummary } from '../tables/histogram';
import { HistogramPlot } from '../tables/histogram_plot';
import { ColumnChoice } from './column_choice';
import { NoRows } from './no_rows';
import type { Told } from './told';

/** The column of histogram and heat map: that of the address, or the first one. */
export function valueColumn(table: Table): TableColumn | null {
	const columns = numberColumns(table.columns);
	return columns.find((c) => c.name === address.value.value) ?? columns[0] ?? null;
}

export function EventHistogram(props: { table: Table; tell: (told: Told) => void }) {
	const { table, tell } = props;
	const { ref, width } = useSize<HTMLDivElement>();
	const [asTable, setAsTable] = useState(false);
	const answer = useQuestion<ValueHistogram>(() => {
		const scale = address.value.logx ? 'log' : 'linear';
		const more = { value: valueColumn(table)?.name, bins: binsFor(width), scale };
		return width && more.value ? askTable(table.name, 'histogram', more) : null;
	});
	const { data, error, loading, of } = answer.value;
	useEffect(() => tell({ matched: data?.count ?? null, error, loading }), [data, error, loading]);
	// Until the new answer arrives, the old one is shown with its own unit.
	const shown = table.columns.find((c) => c.name === of?.query.value) ?? valueColumn(table)!;
	const unit = sumUnit(unitOf(shown), 1);
	return (
		<div class="event-plot" ref={ref}>
			<Tools table={table} asTable={asTable} setAsTable={setAsTable} />
			{!data && !error && <Loading what="Sorting values…" />}
			{data && !error && !data.count && <NoRows />}
			{data && !error && data.count > 0 && (
				<>
					<HistogramSummary
						histogram={data}
						what={`${shown.name} in ${plural(data.count, 'row')}`}
						unit={unit}
					/>
					{asTable ? (
						<BinTable histogram={data} unit={unit} />
					) : (
						<HistogramPlot
							histogram={data}
							axes={{ logx: of?.query.scale === 'log', logy: address.value.logy }}
							unit={unit}
							name={shown.name}
							what="row"
							width={width}
						/>
					)}
				</>
			)}
		</div>
	);
}

function Tools(props: { table: Table; asTable: boolean; setAsTable: (on: boolean) => void }) {
	const { table, asTable } = props;
	const { logx, logy } = address.value;
	return (
		<div class="event-tools">
			<ColumnChoice
				label="Values of"
				columns={numberColumns(table.columns)}
				value={valueColumn(table)?.name ?? ''}
				onChange={(name) => go({ value: name }, true)}
			/>
			<button
				aria-pressed={logx}
				title="Equal steps to the right are equal ratios: for values of very different size"
				onClick={() => go({ logx: !logx }, true)}
			>
				log x
			</button>
			<button
				aria-pressed={logy}
				disabled={asTable}
				title="Low bars become visible beside high ones"
				onClick={() => go({ logy: !logy }, true)}
			>
				log y
			</button>
			<button aria-pressed={asTable} onClick={() => props.setAsTable(!asTable)}>
				Table
			</button>
		</div>
	);
}

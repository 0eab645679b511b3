/* The distribution of the values of a column. */
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
import { BinTable, binsFor, HistogramButtons, HistogramSummary } from '../tables/histogram';
import { HistogramPlot } from '../tables/histogram_plot';
import { ColumnChoice } from './column_choice';
import { NoRows } from './no_rows';
import type { Told } from './told';

/** The column of the histogram and heat map: the one in the address, or the first numeric one. */
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
	// Until the new answer arrives, the previous answer stays, with its own unit.
	const shown = table.columns.find((c) => c.name === of?.query.value) ?? valueColumn(table)!;
	const unit = sumUnit(unitOf(shown), 1);
	return (
		<div class="event-plot" ref={ref}>
			<div class="event-tools">
				<ValueChoice table={table} />
				<HistogramButtons asTable={asTable} setAsTable={setAsTable} />
			</div>
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

/** The control that chooses the column. */
export function ValueChoice(props: { table: Table }) {
	const { table } = props;
	return (
		<ColumnChoice
			label="Values of"
			columns={numberColumns(table.columns)}
			value={valueColumn(table)?.name ?? ''}
			onChange={(name) => go({ value: name }, true)}
		/>
	);
}

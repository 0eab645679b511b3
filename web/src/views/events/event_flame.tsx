/* A flame graph of a numeric column, summed up by call path: for example bytes written. */
import { useEffect, useMemo } from 'preact/hooks';
import type { Flame, Table, TableColumn } from '../../api/types';
import { plural } from '../../logic/format';
import { usualWeight, weightColumns } from '../../logic/rows/row_columns';
import { address, go } from '../../state/address';
import { askTable } from '../../state/event_tables';
import { lightest, MOST_NODES, rootPlace } from '../../state/flame';
import { useQuestion } from '../../state/questions';
import { flameActions } from '../flame/flame_actions';
import { FlameCanvas } from '../flame/flame_canvas';
import { FlameFoot } from '../flame/flame_foot';
import { flameGraphOf } from '../flame/flame_graph';
import { Segments } from '../parts/form_parts';
import { Empty, Loading } from '../parts/states';
import { ColumnChoice } from './column_choice';
import { NoRows } from './no_rows';
import type { Told } from './told';

/** The column named in the address, if it can be a weight. */
function weightColumn(table: Table): TableColumn | null {
	const columns = weightColumns(table.columns);
	return columns.find((c) => c.name === address.value.value) ?? usualWeight(table.columns);
}

const MODES = [
	{ value: 'plain', text: 'Callers first' },
	{ value: 'inverted', text: 'Functions first' },
] as const;

function modeNow(): 'plain' | 'inverted' {
	return address.value.mode === 'inverted' ? 'inverted' : 'plain';
}

export function EventFlame(props: { table: Table; tell: (told: Told) => void }) {
	const { table, tell } = props;
	const answer = useQuestion<Flame>(() => {
		const weight = weightColumn(table)?.name;
		const more = { weight, mode: modeNow(), min: lightest.value, limit: MOST_NODES };
		return weight ? askTable(table.name, 'flame', more) : null;
	});
	const { data, error, loading } = answer.value;
	const graph = useMemo(() => flameGraphOf(data), [data]);
	const matched = data ? data.samples + (data.rows_left_out ?? 0) : null;
	useEffect(() => tell({ matched, error, loading }), [matched, error, loading]);
	return (
		<div class="event-plot">
			<div class="event-tools">
				<ColumnChoice
					label="Sum of"
					columns={weightColumns(table.columns)}
					value={weightColumn(table)?.name ?? ''}
					onChange={(name) => go({ value: name }, true)}
				/>
				<Segments
					label="What the boxes at the root are"
					value={modeNow()}
					choices={[...MODES]}
					onChange={(mode) => go({ mode, focus: null }, true)}
				/>
				{!!data?.rows_left_out && (
					<span class="small dim">
						{plural(data.rows_left_out, 'row')} with a negative {data.column} not counted
					</span>
				)}
			</div>
			{!data && !error && <Loading what="Adding up the rows …" />}
			{data && !error && !matched && <NoRows />}
			{data && !error && !!matched && !data.total && (
				<Empty title={`All rows have ${data.column} 0 or less`}>
					<p>Choose another column, or another condition.</p>
				</Empty>
			)}
			{data && !error && data.total > 0 && graph && (
				<>
					<FlameCanvas
						graph={graph}
						label={`Flame graph of ${data.column} of ${table.name}`}
						colour={address.value.colour}
						root={rootPlace.value}
						focus={address.value.focus}
						onFocus={(path) => go({ focus: path })}
						search={address.value.search}
						actions={flameActions}
						hint={`Each box is a function, as broad as its share of the sum of ${data.column}.`}
					/>
					<FlameFoot flame={data} graph={graph} hidden={data.hidden} />
				</>
			)}
		</div>
	);
}

/* A labelled choice of a column. */
import type { TableColumn } from '../../api/types';

export function ColumnChoice(props: {
	label: string;
	columns: readonly TableColumn[];
	/** Text of the option "no column"; without it, a column must be chosen. */
	none?: string;
	value: string;
	onChange: (name: string) => void;
}) {
	return (
		<label class="event-choice">
			<span class="small dim">{props.label}</span>
			<select value={props.value} onChange={(e) => props.onChange(e.currentTarget.value)}>
				{props.none !== undefined && <option value="">{props.none}</option>}
				{props.columns.map((c) => (
					<option key={c.name} value={c.name} title={c.meaning}>
						{c.name}
					</option>
				))}
			</select>
		</label>
	);
}

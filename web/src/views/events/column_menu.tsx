/* The menu of columns: which are shown, and what they mean. */
import type { TableColumn } from '../../api/types';
import { columnsToChoose } from '../../logic/rows/row_columns';
import { go } from '../../state/address';
import { Popover } from '../parts/popover';

export function ColumnMenu(props: { columns: readonly TableColumn[]; shown: readonly string[] }) {
	const { columns, shown } = props;
	const choices = columnsToChoose(columns);
	const toggle = (name: string, on: boolean) => {
		const names = choices.map((c) => c.name).filter((n) => (n === name ? on : shown.includes(n)));
		if (names.length) go({ columns: names.join(',') }, true);
	};
	const count = choices.filter((c) => shown.includes(c.name)).length;
	return (
		<Popover
			button={`Columns ${count}/${choices.length}`}
			name="Columns of the table"
			title="Choose the columns that are shown"
			align="right"
		>
			{() => (
				<div class="event-columns">
					{choices.map((c) => (
						<label key={c.name}>
							<input
								type="checkbox"
								checked={shown.includes(c.name)}
								disabled={shown.length === 1 && shown.includes(c.name)}
								onChange={(e) => toggle(c.name, e.currentTarget.checked)}
							/>
							<code>{c.name}</code>
							<span class="dim small cut">{c.meaning}</span>
						</label>
					))}
					<button class="plain link" onClick={() => go({ columns: null }, true)}>
						Show the columns whose values differ
					</button>
				</div>
			)}
		</Popover>
	);
}

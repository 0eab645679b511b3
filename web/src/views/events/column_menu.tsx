/* The menu of columns: shows and hides columns, and explains their meaning. */
import { useRef, useState } from 'preact/hooks';
import type { TableColumn } from '../../api/types';
import { columnsToChoose } from '../../logic/rows/row_columns';
import { go } from '../../state/address';
import { Floating } from '../parts/floating';

interface ColumnMenuProps {
	columns: readonly TableColumn[];
	/** Names of the visible columns. */
	shown: readonly string[];
}

export function ColumnMenu(props: ColumnMenuProps) {
	const choices = columnsToChoose(props.columns);
	const [open, setOpen] = useState(false);
	const opener = useRef<HTMLButtonElement>(null);
	const count = choices.filter((c) => props.shown.includes(c.name)).length;
	const closeByKey = (e: KeyboardEvent) => {
		if (e.key !== 'Escape' || !open) return;
		e.preventDefault();
		e.stopPropagation();
		setOpen(false);
		opener.current?.focus();
	};
	return (
		<div onKeyDown={closeByKey}>
			<button
				ref={opener}
				aria-expanded={open}
				aria-haspopup="dialog"
				title="Choose the columns that are shown"
				onClick={() => setOpen(!open)}
			>
				Columns {count}/{choices.length}
			</button>
			{open && (
				// Outside of the view's panel, which would clip it.
				<Floating
					anchor={opener}
					width={320}
					height={Math.min(420, choices.length * 28 + 60)}
					role="dialog"
					label="Columns of the table"
					onLeave={() => setOpen(false)}
				>
					<Choices choices={choices} shown={props.shown} />
				</Floating>
			)}
		</div>
	);
}

function Choices(props: { choices: TableColumn[]; shown: readonly string[] }) {
	const { choices, shown } = props;
	const toggle = (name: string, on: boolean) => {
		const names = choices.map((c) => c.name).filter((n) => (n === name ? on : shown.includes(n)));
		if (names.length) go({ columns: names.join(',') }, true);
	};
	return (
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
	);
}

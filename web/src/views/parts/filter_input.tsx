/* A regular expression that filters the rows of a table, kept in the address. */
import { useId } from 'preact/hooks';
import type { RowFilter } from '../../logic/tables/row_filter';
import { address, go } from '../../state/address';
import './filter_input.css';

export function FilterInput(props: { filter: RowFilter }) {
	const { problem } = props.filter;
	const id = useId();
	return (
		<div class="filter-input">
			<input
				type="search"
				value={address.value.filter ?? ''}
				placeholder="Filter: read|write, ^std::"
				aria-label="Show functions whose name or module matches this regular expression"
				title="A regular expression for names and modules. Small letters find capitals too."
				spellcheck={false}
				autocomplete="off"
				aria-invalid={problem ? true : undefined}
				aria-describedby={id}
				onInput={(e) => go({ filter: e.currentTarget.value || null }, true)}
			/>
			<span id={id} class="problem" aria-live="polite">
				{problem}
			</span>
		</div>
	);
}

/* Chips for the active filters, each with a button that removes it. */
import { filtersOf } from '../../logic/filters';
import { address, go } from '../../state/address';
import { useShortcut } from '../../state/keys';
import { Icon } from './icons';

export function FilterChips() {
	const filters = filtersOf(address.value);
	const clearAll = () => go(Object.assign({}, ...filters.map((f) => f.clear)));
	useShortcut(
		filters.length ? { keys: 'c', what: 'Clear the filters', where: 'Run', run: clearAll } : null,
	);
	// The timeline shows windows: a row that appears during a drag would move the plots.
	const chips = filters.filter((f) => f.key !== 'window' && f.key !== 'second');
	if (!chips.length) return null;
	return (
		<div class="filters" role="group" aria-label="What is shown is narrowed to">
			{chips.map((f) => (
				<span key={f.key} class={'chip ' + f.key}>
					<span class="dim">{f.name}</span>
					<span class="cut" title={f.value}>
						{f.value}
					</span>
					<button
						aria-label={`Clear ${f.name}`}
						title={`Clear ${f.name}`}
						onClick={() => go(f.clear)}
					>
						<Icon name="close" size={12} />
					</button>
				</span>
			))}
			{chips.length > 1 && (
				<button class="plain small" onClick={clearAll}>
					Clear all
				</button>
			)}
		</div>
	);
}

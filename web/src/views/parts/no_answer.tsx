/* Shown when the question of a view was not answered: why, and what to do. */
import { ApiError } from '../../api/client';
import { filtersOf } from '../../logic/filters';
import { address, go } from '../../state/address';
import { tryAgain } from '../../state/questions';
import { Problem } from './states';

/** A change after which the server can answer; null if none is known. */
function wayOn(missing: boolean) {
	const { view, mode, function: name, a, b } = address.value;
	if (missing && view === 'diff' && a && b)
		return { text: 'Choose other runs', change: { a: null, b: null } };
	if (missing && view === 'flame' && mode === 'sandwich' && name)
		return { text: 'Choose another function', change: { function: null, module: null } };
	const filters = filtersOf(address.value);
	const change = Object.assign({}, ...filters.map((f) => f.clear));
	return filters.length ? { text: 'Remove the filters', change } : null;
}

export function NoAnswer(props: { error: Error }) {
	const { error } = props;
	const status = error instanceof ApiError ? error.status : 0;
	// A refused question would be refused again: what was chosen has to change.
	if (status < 400 || status >= 500) return <Problem error={error} again={tryAgain} />;
	const way = wayOn(status === 404);
	return (
		<Problem error={error}>
			{way && <button onClick={() => go(way.change)}>{way.text}</button>}
		</Problem>
	);
}

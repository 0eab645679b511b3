/* What a view says when its question was not answered: why, and what to do. */
import { ApiError } from '../api/client';
import { filtersOf } from '../logic/filters';
import { address, go } from '../state/address';
import { tryAgain } from '../state/questions';
import { Problem } from './states';

export function NoAnswer(props: { error: Error }) {
	const { error } = props;
	const refused = error instanceof ApiError && error.status >= 400 && error.status < 500;
	// The same question would be refused again: it is the selection that the server does not understand.
	if (!refused) return <Problem error={error} again={tryAgain} />;
	const filters = filtersOf(address.value);
	const clearAll = () => go(Object.assign({}, ...filters.map((f) => f.clear)));
	return (
		<Problem error={error}>
			{filters.length > 0 && <button onClick={clearAll}>Show the whole run</button>}
		</Problem>
	);
}

/* Shown in place of rows if none are selected: the reason, and what to do. */
import { address, go } from '../../state/address';
import { isLive, run } from '../../state/runs';
import { Empty } from '../parts/states';

const WHOLE = { window: null, second: null, threads: null, pids: null, cpus: null, frames: null };

export function NoRows() {
	const { where, window, threads, pids, cpus, frames } = address.value;
	const narrowed = window || threads || pids || cpus || frames;
	if (!where && !narrowed)
		return (
			<Empty title="No rows">
				<p>
					{run.value && isLive(run.value)
						? 'Rows appear here when the event happens.'
						: 'The event did not happen in this run.'}
				</p>
			</Empty>
		);
	return (
		<Empty title="No rows here">
			<p>The selection contains no rows. Widen the time window or clear the condition.</p>
			<div class="actions">
				{where && <button onClick={() => go({ where: null })}>Clear the condition</button>}
				{narrowed && <button onClick={() => go(WHOLE)}>Show the whole run</button>}
			</div>
		</Empty>
	);
}

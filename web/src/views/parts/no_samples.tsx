/* Shown by views of samples when there are none: why, and what to do. */
import { address, go } from '../../state/address';
import { run } from '../../state/runs';
import { Empty } from './states';

const WHOLE = {
	window: null,
	second: null,
	event: null,
	threads: null,
	pids: null,
	cpus: null,
	frames: null,
};

export function NoSamples() {
	const { window, event, threads, pids, cpus, frames } = address.value;
	const r = run.value;
	if (window || event || threads || pids || cpus || frames)
		return (
			<Empty title="No samples here">
				<p>Nothing was sampled in the window and with the filters that you chose.</p>
				<button onClick={() => go(WHOLE)}>Show the whole run</button>
			</Empty>
		);
	return (
		<Empty title={r?.state === 'running' ? 'No samples yet' : 'No samples'}>
			{r?.tool === 'stat' ? (
				<p>This run only counted. To see this, run it again with “Sample” or “Both”.</p>
			) : r?.state === 'running' ? (
				<p>They appear here as they come. A program that only waits has none.</p>
			) : (
				<p>The program may have ended too soon, or it only waited. “Output” shows what it said.</p>
			)}
		</Empty>
	);
}

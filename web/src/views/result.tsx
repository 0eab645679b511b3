/* What a run has brought: the timeline on top, and below it one view of what is selected there. */
import { VIEWS, type View } from '../logic/address';
import { address, follow, link } from '../state/address';
import { run } from '../state/runs';
import { DetailsView } from './details';
import { DiffView } from './diff';
import { FlameView } from './flame';
import { FunctionsView } from './functions';
import { HistogramView } from './histogram';
import { OutputView } from './output';
import { Empty } from './states';
import { ThreadsView } from './threads';
import { TimelineView } from './timeline';
import './result.css';

const NAMES: Record<View, string> = {
	flame: 'Flame graph',
	functions: 'Functions',
	diff: 'Diff',
	histogram: 'Histogram',
	threads: 'Threads',
	output: 'Output',
	details: 'Details',
};

const BODIES: Record<View, () => preact.JSX.Element> = {
	flame: FlameView,
	functions: FunctionsView,
	diff: DiffView,
	histogram: HistogramView,
	threads: ThreadsView,
	output: OutputView,
	details: DetailsView,
};

export function Result() {
	const { view } = address.value;
	const Body = BODIES[view];
	if (!run.value)
		return (
			<section class="result card">
				<Empty title="No run is open">
					<p>Start one at the left, or choose one at the right.</p>
				</Empty>
			</section>
		);
	return (
		<section class="result">
			<TimelineView />
			<div class="card panel">
				<nav class="views" aria-label="Views of the selection">
					{VIEWS.map((name) => (
						<a
							key={name}
							href={link({ view: name })}
							onClick={follow({ view: name })}
							aria-current={name === view ? 'page' : undefined}
						>
							{NAMES[name]}
						</a>
					))}
				</nav>
				<div class="body">
					<Body />
				</div>
			</div>
		</section>
	);
}

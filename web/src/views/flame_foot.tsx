/* Below a flame graph: how much it shows, what it leaves out, what its colours mean. */
import type { Flame, FlameHidden } from '../api/types';
import { legendOf, searchLegend } from '../logic/flame_colours';
import type { FlameGraph } from '../logic/flame_layout';
import { searchGraph } from '../logic/flame_search';
import { weightText } from '../logic/flame_words';
import { plural } from '../logic/format';
import { address, go } from '../state/address';
import { lightest } from '../state/flame';
import { dark } from '../state/theme';

function Legend(props: { graph: FlameGraph }) {
	const { colour, search } = address.value;
	const found = searchGraph(props.graph, search) !== null;
	const entries = found ? searchLegend(dark.value) : legendOf(props.graph, colour, dark.value);
	return (
		<ul class="flame-legend" aria-label="Colours">
			{entries.map(({ label, note, colour }) => (
				<li key={label} title={note}>
					<span class="flame-swatch" style={{ background: colour }} />
					<span class="cut">{label}</span>
				</li>
			))}
		</ul>
	);
}

function HiddenNodes(props: { nodes: number }) {
	const { light } = address.value;
	const { nodes } = props;
	if (!nodes && !light) return null;
	const below = light ? 'the lightest' : `below ${+(lightest.value * 100).toPrecision(2)} %`;
	return (
		<span>
			{nodes > 0 && `${plural(nodes, 'box', 'boxes')} (${below}) not shown. `}
			<button class="plain small" onClick={() => go({ light: !light }, true)}>
				{light ? 'Hide light boxes' : 'Show them'}
			</button>
		</span>
	);
}

export function FlameFoot(props: { flame: Flame; graph: FlameGraph; hidden?: FlameHidden }) {
	const { flame, graph, hidden } = props;
	return (
		<div class="flame-foot small dim">
			<span>
				{flame.samples > 0 && plural(flame.samples, 'sample') + ', '}
				{weightText(flame.total, graph.unit)} of {flame.event}
			</span>
			{flame.thread && (
				<span title="The thread with most samples. Choose another one in Threads.">
					Thread {flame.thread.comm} ({flame.thread.tid})
				</span>
			)}
			{hidden && <HiddenNodes nodes={hidden.nodes} />}
			<Legend graph={graph} />
		</div>
	);
}

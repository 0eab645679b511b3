/* Below a flame graph: how much it shows, what it leaves out, what its colours mean. */
import { useMemo } from 'preact/hooks';
import type { Flame, FlameHidden } from '../../api/types';
import { legendOf, searchLegend } from '../../logic/flame/flame_colours';
import type { FlameGraph } from '../../logic/flame/flame_layout';
import { searchGraph } from '../../logic/flame/flame_search';
import { unknownShare } from '../../logic/flame/flame_unknown';
import { weightText } from '../../logic/flame/flame_words';
import { plural } from '../../logic/format';
import { formatShare } from '../../logic/units';
import { address, go } from '../../state/address';
import { change, useSettingsOfRun } from '../../state/draft';
import { lightest } from '../../state/flame';
import { showSide } from '../../state/layout';
import { run } from '../../state/runs';
import { mayRun } from '../../state/server';
import { dark } from '../../state/theme';

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

/** A smaller share of unknown callers is usual. */
const MUCH_UNKNOWN = 0.1;

/** Half a graph of "[unknown]" has a remedy that nobody can guess: offers it. */
function Unknown(props: { graph: FlameGraph }) {
	const r = run.value;
	const share = useMemo(() => unknownShare(props.graph), [props.graph]);
	if (!r || r.import || r.sample?.callgraph !== 'fp' || share < MUCH_UNKNOWN) return null;
	const copies = () => {
		useSettingsOfRun();
		change({ callgraph: 'dwarf' });
		showSide('left');
	};
	return (
		<span class="flame-unknown">
			{formatShare(share)} has unknown callers (no frame pointers).
			{mayRun.value && (
				<button
					class="plain small"
					title="Puts the settings of this run into the form, with copies of the stack"
					onClick={copies}
				>
					Run with copies of the stack
				</button>
			)}
		</span>
	);
}

export function FlameFoot(props: { flame: Flame; graph: FlameGraph; hidden?: FlameHidden }) {
	const { flame, graph, hidden } = props;
	return (
		<div class="flame-foot small dim">
			<span>
				{flame.samples > 0 && plural(flame.samples, flame.column ? 'row' : 'sample') + ', '}
				{weightText(flame.total, graph.unit)} of {flame.column ?? flame.event}
			</span>
			{flame.thread && (
				<span title="The thread with most samples. Choose another one in Threads.">
					Thread {flame.thread.comm} ({flame.thread.tid})
				</span>
			)}
			{hidden && <HiddenNodes nodes={hidden.nodes} />}
			{!graph.time && !flame.callees && <Unknown graph={graph} />}
			<Legend graph={graph} />
		</div>
	);
}

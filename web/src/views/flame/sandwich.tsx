/* One function between its callers, above, and its callees, below. */
import { useMemo } from 'preact/hooks';
import type { Flame, FlameTree, Functions } from '../../api/types';
import { layOutTree, type FlameGraph } from '../../logic/flame/flame_layout';
import { weightUnit } from '../../logic/flame/flame_words';
import { formatShare } from '../../logic/units';
import { address, go } from '../../state/address';
import { useQuestion } from '../../state/questions';
import { selected } from '../../state/selection';
import { flameActions } from './flame_actions';
import { FlameCanvas } from './flame_canvas';
import { FlameFoot } from './flame_foot';
import { NoAnswer } from '../parts/no_answer';
import { Empty, Loading } from '../parts/states';

/** Prefix of address.focus: the path goes up, to callers. */
const UPWARDS = '↑\n';

export function Sandwich(props: { flame: Flame; onDrawn: (graph: FlameGraph) => void }) {
	const { flame, onDrawn } = props;
	const { focus, search, colour, function: name } = address.value;
	const [callers, callees] = useMemo(() => {
		const lay = (tree: FlameTree) =>
			layOutTree({
				names: flame.names,
				nodes: tree.nodes,
				unit: weightUnit(flame.event, flame.unit),
				whole: flame.total,
				samples: flame.samples || undefined,
			});
		return [lay(flame.callers!), lay(flame.callees!)];
	}, [flame]);
	if (!callees.total[0])
		return (
			<Empty title={`${name} was not sampled here`}>
				<p>Widen the window, or choose another function.</p>
				<div class="actions">
					<button onClick={() => go({ function: null, module: null, focus: null })}>
						Choose a function
					</button>
				</div>
			</Empty>
		);
	const up = focus?.startsWith(UPWARDS) ? focus.slice(UPWARDS.length) : null;
	const [above, below] = [flame.callers!.hidden, flame.callees!.hidden];
	const hidden = { nodes: above.nodes + below.nodes, weight: above.weight + below.weight };
	const common = { colour, search, actions: flameActions };
	return (
		<div class="sandwich">
			<SandwichHead name={name} share={callees.total[0]! / flame.total} />
			<FlameCanvas
				{...common}
				graph={callers}
				label={`Callers of ${name}`}
				root="bottom"
				focus={up}
				onFocus={(path) => go({ focus: path && UPWARDS + path })}
			/>
			<h2 class="sandwich-head">What it calls</h2>
			<FlameCanvas
				{...common}
				graph={callees}
				label={`What ${name} calls`}
				root="top"
				focus={up ? null : focus}
				onFocus={(path) => go({ focus: path })}
				onDrawn={onDrawn}
			/>
			<FlameFoot flame={flame} graph={callees} hidden={hidden} />
		</div>
	);
}

function SandwichHead(props: { name: string | null; share: number }) {
	return (
		<div class="sandwich-head">
			<h2>
				Who calls <span class="mono">{props.name}</span>
			</h2>
			<span class="small dim">{formatShare(props.share)} of all samples</span>
			<button class="small" onClick={() => go({ function: null, module: null, focus: null })}>
				Another function
			</button>
		</div>
	);
}

/** Offers the heaviest functions while none is chosen. */
export function SandwichChoice() {
	const answer = useQuestion<Functions>(() => selected('functions', { limit: 24 }));
	const { data, error, loading } = answer.value;
	if (error) return <NoAnswer error={error} />;
	if (!data) return loading ? <Loading what="Looking for functions …" /> : <Empty title="No run" />;
	if (!data.functions.length)
		return (
			<Empty title="Nothing was sampled here">
				<p>Widen the window: select a longer one in the timeline.</p>
			</Empty>
		);
	return (
		<div class="sandwich-choice">
			<h2>Which function?</h2>
			<p class="dim">
				You will see who calls it above, and what it calls below. Any other one: right click it in
				the plain graph.
			</p>
			<ul>
				{data.functions.map((f) => (
					<li key={f.name + '\n' + f.module}>
						<button onClick={() => go({ function: f.name, module: f.module, focus: null })}>
							<span class="mono cut">{f.name}</span>
							<span class="small dim cut">{f.module}</span>
							<span class="small number">{formatShare(f.total / data.total)}</span>
						</button>
					</li>
				))}
			</ul>
		</div>
	);
}

/* The flame graph of the selection. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';
import type { Flame } from '../../api/types';
import type { FlameMode } from '../../logic/address';
import type { FlameGraph } from '../../logic/flame/flame_layout';
import { timeOf } from '../../logic/flame/flame_order';
import { findPath } from '../../logic/flame/flame_path';
import { searchGraph, type FlameMatches } from '../../logic/flame/flame_search';
import { plural } from '../../logic/format';
import { formatShare } from '../../logic/units';
import { takesSamples } from '../../logic/timeline/sampled';
import { address, go } from '../../state/address';
import { rootPlace, useEveryNode, useFlame, zoomedShare } from '../../state/flame';
import { useShortcut } from '../../state/keys';
import { width } from '../../state/layout';
import type { Answer, Question } from '../../state/questions';
import { isLive, run } from '../../state/runs';
import { tell } from '../../state/toasts';
import { flameActions } from './flame_actions';
import { FlameCanvas, type FlameAction } from './flame_canvas';
import { FlameFoot } from './flame_foot';
import { flameGraphOf } from './flame_graph';
import { FlameToolbar } from './flame_toolbar';
import { Sandwich, SandwichChoice } from './sandwich';
import { NoAnswer } from '../parts/no_answer';
import { Empty, Loading } from '../parts/states';
import './flame.css';

/** @all: the light boxes were searched, too. */
function foundText(matches: FlameMatches | null, all: boolean): string {
	if (!matches) return 'Not a valid pattern';
	if (!matches.functions) return all ? 'No match' : '…';
	const share = (all ? '' : 'at least ') + formatShare(matches.share);
	return `${share} in ${plural(matches.functions, 'function')}`;
}

/** How much of the selection matches the search, as text. */
function useFound(flame: Flame | null, graph: FlameGraph | null): string {
	const { search } = address.value;
	const every = useEveryNode(flame?.hidden?.nodes ?? 0).value;
	const whole = useMemo(() => flameGraphOf(every.data), [every.data]);
	if (!search || !graph) return '';
	if (!flame?.hidden?.nodes) return foundText(searchGraph(graph, search), true);
	const all = whole && !every.loading ? whole : null;
	return foundText(searchGraph(all ?? graph, search), all !== null);
}

/** Marks for tests, and the curious, when the graph of which window was drawn. */
function drawn(of: Question | null, graph: FlameGraph): void {
	const { from, to } = of?.query ?? {};
	performance.clearMarks('flame-drawn');
	performance.mark('flame-drawn', { detail: { from, to, nodes: graph.count } });
}

function NothingSampled() {
	const { window, threads, pids, cpus, frames } = address.value;
	const narrowed = threads || pids || cpus || frames;
	if (run.value && isLive(run.value) && !window && !narrowed)
		return (
			<Empty title="No samples yet">
				<p>They appear as soon as the program uses the processor.</p>
			</Empty>
		);
	return (
		<Empty title="Nothing was sampled here">
			<p>
				{window
					? 'Widen the window: select a longer one in the timeline.'
					: narrowed
						? 'No sample fits the filters.'
						: 'The program hardly used the processor, or ended too soon. Sample more often, or longer.'}
			</p>
			<div class="actions">
				{window && <button onClick={() => go({ window: null })}>Show the whole run</button>}
				{narrowed && (
					<button onClick={() => go({ threads: null, pids: null, cpus: null, frames: null })}>
						Remove the filters
					</button>
				)}
			</div>
		</Empty>
	);
}

/** In a graph in time, a box is a window that can be selected. */
function timeActions(graph: FlameGraph, node: number): FlameAction[] {
	const window = timeOf(graph, node);
	if (!window || window.to <= window.from) return [];
	return [{ label: 'Select this time', run: () => go({ window, focus: null }) }];
}

const HINTS: Partial<Record<FlameMode, string>> = {
	plain: 'Each box is a function, as broad as its share of the samples.',
	inverted:
		'The boxes at the root are the functions that were running; each next row shows their callers.',
	ordered: 'From left to right as it happened, of one thread. Select a shorter time to see more.',
};

const MOUSE_HINT = ' Click one to zoom in, right-click for its callers and its code.';
const TOUCH_HINT = ' Tap one to zoom in, hold it for more.';

function hintOf(mode: FlameMode): string | undefined {
	const hint = HINTS[mode];
	if (!hint || mode === 'ordered') return hint;
	return hint + (width.value === 'phone' ? TOUCH_HINT : MOUSE_HINT);
}

function Body(props: { answer: Answer<Flame>; graph: FlameGraph | null }) {
	const { data, error, loading, of } = props.answer;
	const { mode, function: name, focus, search, colour } = address.value;
	if (mode === 'sandwich' && !name) return <SandwichChoice />;
	if (error && !loading) return <NoAnswer error={error} />;
	if (!data) return <Loading what="Adding up the samples …" />;
	if (!data.total) return <NothingSampled />;
	if (data.callers && data.callees) return <Sandwich flame={data} onDrawn={(g) => drawn(of, g)} />;
	if (!props.graph) return <Loading what="Adding up the samples …" />;
	return (
		<>
			<FlameCanvas
				graph={props.graph}
				label={`Flame graph of ${data.event ?? 'samples'}`}
				colour={colour}
				root={rootPlace.value}
				focus={focus}
				onFocus={(path) => go({ focus: path })}
				search={search}
				actions={(f, m, node) => [...timeActions(props.graph!, node), ...flameActions(f, m)]}
				hint={search ? undefined : hintOf(mode)}
				onDrawn={(g) => drawn(of, g)}
			/>
			<FlameFoot flame={data} graph={props.graph} hidden={data.hidden} />
		</>
	);
}

/** The code view is loaded when it is first opened. */
function Code() {
	const [Panel, setPanel] = useState<(() => JSX.Element) | null>(null);
	useEffect(() => {
		import('../tables/annotate').then((module) => setPanel(() => module.AnnotatePanel), tell);
	}, []);
	return Panel ? <Panel /> : <Loading what="Opening the code …" />;
}

/** Keys that the graph handles itself while it has the focus, for the sheet of all keys. */
const KEYS = [
	['ArrowUp ArrowDown', 'To the caller, to what it calls'],
	['ArrowLeft ArrowRight', 'To the box beside it'],
	['Enter', 'Zoom to the box'],
	['Backspace', 'Zoom out by one'],
	['Escape', 'Show all'],
	['m', 'What can be done with the box'],
	['c', 'Copy the stack'],
] as const;

function useKeySheet(): void {
	for (const [keys, what] of KEYS) useShortcut({ keys, what, where: 'Flame graph' });
}

export function FlameView() {
	useKeySheet();
	const answer = useFlame().value;
	const graph = useMemo(() => flameGraphOf(answer.data), [answer.data]);
	const found = useFound(answer.data, graph);
	const { focus } = address.value;
	useEffect(() => {
		const node = graph ? findPath(graph, focus).node : 0;
		zoomedShare.value = graph && node ? Math.max(1e-6, graph.x1[node]! - graph.x0[node]!) : 1;
	}, [graph, focus]);
	const r = run.value;
	if (!r) return <Loading what="Opening the run …" />;
	if (r.state === 'queued')
		return (
			<Empty title="This run waits for its turn">
				<p>Its flame graph grows here as soon as it starts.</p>
			</Empty>
		);
	if (!takesSamples(r))
		return (
			<Empty title="This run counted events but took no samples">
				<p>A flame graph is made of samples. Choose Sample or Both for the next run.</p>
			</Empty>
		);
	if (address.value.annotate) return <Code />;
	return (
		<div class="flame" aria-busy={answer.loading}>
			<FlameToolbar found={found} event={answer.data?.event ?? null} />
			<Body answer={answer} graph={graph} />
		</div>
	);
}

/* Elements around the canvas of a flame graph: the path above it, the tip beside the pointer, and
 * the node at the cursor as an item of a tree, for screen readers. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { FlameGraph } from '../../logic/flame/flame_layout';
import { ancestry, nameOf, placeAmongSiblings } from '../../logic/flame/flame_path';
import { nodeSentence, nodeWords } from '../../logic/flame/flame_words';
import { formatShare } from '../../logic/units';
import { putBeside } from '../parts/put_beside';

export interface TipPlace {
	node: number;
	x: number;
	y: number;
}

/** Distance to the pointer. */
const TIP_GAP = 14;

export function FlameTip(props: { graph: FlameGraph; tip: TipPlace }) {
	const { graph, tip } = props;
	const element = useRef<HTMLDivElement>(null);
	const { name, module, facts } = nodeWords(graph, tip.node);
	useLayoutEffect(() => {
		putBeside(element.current!, tip, TIP_GAP);
	});
	return (
		<div ref={element} class="popover flame-tip" aria-hidden="true">
			<strong class="mono">{name}</strong>
			{module && <div class="dim">{module}</div>}
			<dl>
				{facts.map(([what, much]) => (
					<div key={what}>
						<dt>{what}</dt>
						<dd>{much}</dd>
					</div>
				))}
			</dl>
		</div>
	);
}

export function FlameItem(props: { id: string; graph: FlameGraph; node: number }) {
	const { id, graph, node } = props;
	if (!graph.count) return null;
	const { at, of } = placeAmongSiblings(graph, node);
	return (
		<div
			key={node}
			id={`${id}n${node}`}
			class="visually-hidden"
			role="treeitem"
			aria-level={graph.depth[node]! + 1}
			aria-posinset={at}
			aria-setsize={of}
			aria-selected="true"
		>
			{nodeSentence(graph, node)}
		</div>
	);
}

const CRUMBS = 5;

export function FlameCrumbs(props: {
	graph: FlameGraph;
	zoomed: { node: number; missing: string[] };
	hint?: string;
	onZoom: (node: number) => void;
}) {
	const { graph, zoomed, onZoom } = props;
	const path = graph.count ? ancestry(graph, zoomed.node) : [];
	const hidden = Math.max(0, path.length - CRUMBS);
	const share = (node: number) => formatShare(graph.whole ? graph.total[node]! / graph.whole : 0);
	const crumb = (node: number) => (
		<li key={node}>
			<button
				class="plain small cut mono"
				title={nameOf(graph, node)}
				aria-current={node === zoomed.node ? 'location' : undefined}
				onClick={() => onZoom(node)}
			>
				{node ? nameOf(graph, node) : 'all'}
			</button>
		</li>
	);
	if (!path.length && !zoomed.missing.length)
		return props.hint ? <p class="flame-crumbs dim small">{props.hint}</p> : null;
	return (
		<nav class="flame-crumbs" aria-label="Zoomed to" aria-live="polite">
			<ol>
				{crumb(0)}
				{hidden > 0 && (
					<li>
						<button
							class="plain small"
							title={`${hidden} more on the way`}
							aria-label={`${hidden} more on the way: zoom to ${nameOf(graph, path[hidden - 1]!)}`}
							onClick={() => onZoom(path[hidden - 1]!)}
						>
							…
						</button>
					</li>
				)}
				{path.slice(hidden).map(crumb)}
			</ol>
			{zoomed.missing.length > 0 ? (
				<span class="small flame-missing">
					{zoomed.missing[zoomed.missing.length - 1]!.split('\t')[0]} was not sampled here
				</span>
			) : (
				<span class="small dim">{share(zoomed.node)} of all</span>
			)}
		</nav>
	);
}

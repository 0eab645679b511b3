/* A flame graph on a canvas: plain or differential. Zoom, search and colours are props, so that the
 * address bar can hold them; pan, hover and the keyboard are handled here. */
import { useId } from 'preact/hooks';
import type { FlameColour } from '../../logic/flame/flame_colours';
import type { FlameGraph } from '../../logic/flame/flame_layout';
import { nameOf } from '../../logic/flame/flame_path';
import { FlameMenu, type FlameAction } from './flame_menu';
import { FlameCrumbs, FlameItem, FlameTip } from './flame_parts';
import { copyStack, useFlameScene } from './flame_scene';
import './flame_canvas.css';

export type { FlameAction };

export interface FlameCanvasProps {
	/** Made by layOutTree(), layOutDiff() … once for each answer (useMemo), not each render. */
	graph: FlameGraph;
	/** Name of the graph, for screen readers. */
	label: string;
	/** 'change': red for more, blue with stripes for less; for differentials. */
	colour: FlameColour;
	/** Where the root is drawn. */
	root: 'top' | 'bottom';
	/** Path of the node that is zoomed to (address.focus). */
	focus: string | null;
	onFocus: (path: string | null) => void;
	/** Text, or /regular expression/: matches are marked. */
	search?: string | null;
	/** Actions on a function, besides zooming and copying its stack. */
	actions?: (name: string, module: string, node: number) => FlameAction[];
	/** How to read the graph; shown while nothing is zoomed to. */
	hint?: string;
	/** Called when a new graph has been painted. */
	onDrawn?: (graph: FlameGraph) => void;
}

export function FlameCanvas(props: FlameCanvasProps) {
	const { graph } = props;
	const id = useId();
	const scene = useFlameScene(props);
	const { tip, menu, cursor, zoomTo } = scene;
	const menuActions = (node: number): FlameAction[] => {
		const [name, module] = graph.names[graph.name[node]!]!;
		return [
			{ label: 'Zoom to this box', run: () => zoomTo(node) },
			...(node > 0 ? (props.actions?.(name, module, node) ?? []) : []),
			{ label: 'Copy the stack', run: () => copyStack(graph, node) },
		];
	};
	return (
		<div class="flame-canvas">
			<FlameCrumbs graph={graph} zoomed={scene.zoomed} hint={props.hint} onZoom={zoomTo} />
			<div class="flame-stage">
				<div
					ref={scene.host}
					class="flame-host"
					role="tree"
					tabIndex={0}
					aria-label={props.label}
					aria-describedby={id + 'keys'}
					aria-activedescendant={`${id}n${cursor}`}
					onKeyDown={scene.onKeyDown}
				>
					<canvas ref={scene.canvas} aria-hidden="true" />
					<FlameItem id={id} graph={graph} node={cursor} />
				</div>
				{tip && <FlameTip graph={graph} tip={tip} />}
				{menu && (
					<FlameMenu
						title={nameOf(graph, menu.node)}
						place={menu}
						actions={menuActions(menu.node)}
						onClose={scene.closeMenu}
					/>
				)}
			</div>
			<p class="visually-hidden" id={id + 'keys'}>
				Arrows move between boxes, Enter zooms, Backspace goes out, Escape shows all, M opens what
				can be done with a box, C copies its stack.
			</p>
		</div>
	);
}

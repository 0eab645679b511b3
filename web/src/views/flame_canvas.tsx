/* A flame graph on a canvas: plain or differential. Zoom, search and colours come from outside, so
 * that the address bar can hold them; pan, hover and the keyboard are its own affair. */
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { paintOf, type FlameColour } from '../logic/flame_colours';
import { flameCommand } from '../logic/flame_keys';
import type { FlameGraph } from '../logic/flame_layout';
import { findPath, foldedStack, nameOf, pathOf } from '../logic/flame_path';
import { searchGraph } from '../logic/flame_search';
import { clampView } from '../logic/flame_view';
import { nodeLabel } from '../logic/flame_words';
import { dark } from '../state/theme';
import { tell, toast } from '../state/toasts';
import { FlameMenu, type FlameAction, type MenuPlace } from './flame_menu';
import { FlameCrumbs, FlameItem, FlameTip, type TipPlace } from './flame_parts';
import { listenToPointers } from './flame_pointer';
import { FlameStage } from './flame_stage';
import './flame_canvas.css';

export type { FlameAction };

export interface FlameCanvasProps {
	/** Made by layOutTree(), layOutDiff() …; make it once for each answer (useMemo), not each render. */
	graph: FlameGraph;
	/** What this graph is about, for those who hear it. */
	label: string;
	/** 'change': red for more, blue with stripes for less; for differentials. */
	colour: FlameColour;
	/** Where the root stands. */
	root: 'top' | 'bottom';
	/** Path of the node that is zoomed to (address.focus). */
	focus: string | null;
	onFocus: (path: string | null) => void;
	/** Text, or /regular expression/: what matches is marked. */
	search?: string | null;
	/** What can be done with a function, beside zooming and copying its stack. */
	actions?: (name: string, module: string) => FlameAction[];
	/** A graph that was not there before has been painted. */
	onDrawn?: (graph: FlameGraph) => void;
}

function copyStack(graph: FlameGraph, node: number): void {
	navigator.clipboard
		.writeText(foldedStack(graph, node))
		.then(() => toast('The stack is on the clipboard.'), tell);
}

/** The stage of a canvas, which follows the size of the element around it. */
function useStage(onStage: (stage: FlameStage, host: HTMLElement) => () => void) {
	const host = useRef<HTMLDivElement>(null);
	const canvas = useRef<HTMLCanvasElement>(null);
	const stage = useRef<FlameStage | null>(null);
	useLayoutEffect(() => {
		const made = new FlameStage(canvas.current!);
		const element = host.current!;
		stage.current = made;
		const fit = () => made.resize(element.clientWidth, element.clientHeight);
		const observer = new ResizeObserver(fit);
		observer.observe(element);
		fit();
		const off = onStage(made, element);
		return () => {
			observer.disconnect();
			off();
			made.stop();
		};
	}, []);
	return { host, canvas, stage };
}

export function FlameCanvas(props: FlameCanvasProps) {
	const { graph, focus, root, colour, search } = props;
	const isDark = dark.value;
	const id = useId();
	const [tip, setTip] = useState<TipPlace | null>(null);
	const [menu, setMenu] = useState<MenuPlace | null>(null);
	const [cursorPath, setCursorPath] = useState<string | null | undefined>(undefined);
	const matches = useMemo(() => searchGraph(graph, search), [graph, search]);
	const paint = useMemo(
		() => paintOf(graph, colour, isDark, matches),
		[graph, colour, isDark, matches],
	);
	const zoomed = useMemo(() => findPath(graph, focus), [graph, focus]);
	const cursor = useMemo(() => {
		if (cursorPath === undefined || !graph.count) return -1;
		return findPath(graph, cursorPath).node;
	}, [graph, cursorPath]);

	const now = useRef({ props, zoomed, cursor });
	now.current = { props, zoomed, cursor };
	const zoomTo = (node: number) => {
		const path = pathOf(now.current.props.graph, node);
		if (path === now.current.props.focus) showFocus(true);
		else now.current.props.onFocus(path);
	};
	const { host, canvas, stage } = useStage((made, element) => {
		let drawn: FlameGraph | null = null;
		made.onPaint = () => {
			const { graph: shown, onDrawn } = now.current.props;
			if (drawn === shown) return;
			drawn = shown;
			onDrawn?.(shown);
		};
		return listenToPointers(element, made, {
			hover: (node, x, y) => {
				setTip(node < 0 ? null : { node, x, y });
				if (made.hover === node) return;
				made.hover = node;
				made.invalidate();
			},
			click: zoomTo,
			reset: () => zoomTo(0),
			menu: (node, x, y) => setMenu({ node, x, y }),
		});
	});

	const showFocus = (smooth: boolean) => {
		const { graph: g } = now.current.props;
		const { node } = now.current.zoomed;
		if (!g.count) return;
		stage.current!.moveTo(clampView(g.x0[node]!, g.x1[node]!), smooth);
		stage.current!.reveal(node);
	};
	const shown = useRef<FlameGraph | null>(null);
	useLayoutEffect(() => stage.current!.dress(isDark), [isDark]);
	useLayoutEffect(() => {
		const s = stage.current!;
		s.root = root;
		s.marked = matches?.nodes ?? null;
		s.labelOf = (node) => nodeLabel(graph, node);
		s.show(graph, paint);
		setTip(null);
	}, [graph, paint, root]);
	useLayoutEffect(() => {
		const isNew = shown.current !== graph;
		// Who has panned away by hand stays there when the data grow.
		const follows = !shown.current || focus !== null || !isNew;
		shown.current = graph;
		if (follows) showFocus(!isNew);
	}, [graph, zoomed]);
	useEffect(() => {
		stage.current!.cursor = cursor;
		if (cursor >= 0) stage.current!.reveal(cursor);
		stage.current!.invalidate();
	}, [cursor]);

	const openMenu = (node: number) => {
		const box = stage.current!.boxOf(node);
		setMenu({ node, x: box.left + 10, y: box.top + box.height });
	};
	const onKeyDown = (e: KeyboardEvent) => {
		const command = flameCommand(graph, cursor, zoomed.node, root, e);
		if (!command) return;
		e.preventDefault();
		if (command.kind === 'closer')
			stage.current!.zoomAt(host.current!.clientWidth / 2, command.factor);
		else if (command.kind === 'cursor') setCursorPath(pathOf(graph, command.node));
		else if (command.kind === 'zoom') zoomTo(command.node);
		else if (command.kind === 'menu') openMenu(command.node);
		else copyStack(graph, command.node);
	};
	const closeMenu = (back: boolean) => {
		setMenu(null);
		if (back) host.current!.focus();
	};
	const menuActions = (node: number): FlameAction[] => {
		const [name, module] = graph.names[graph.name[node]!]!;
		return [
			{ label: 'Zoom to this box', run: () => zoomTo(node) },
			...(node > 0 ? (props.actions?.(name, module) ?? []) : []),
			{ label: 'Copy the stack', run: () => copyStack(graph, node) },
		];
	};
	return (
		<div class="flame-canvas">
			<FlameCrumbs graph={graph} zoomed={zoomed} onZoom={zoomTo} />
			<div class="flame-stage">
				<div
					ref={host}
					class="flame-host"
					role="tree"
					tabIndex={0}
					aria-label={props.label}
					aria-describedby={id + 'keys'}
					aria-activedescendant={`${id}n${Math.max(cursor, 0)}`}
					onKeyDown={onKeyDown}
				>
					<canvas ref={canvas} aria-hidden="true" />
					<FlameItem id={id} graph={graph} node={Math.max(cursor, 0)} />
				</div>
				{tip && !menu && tip.node < graph.count && <FlameTip graph={graph} tip={tip} />}
				{menu && menu.node < graph.count && (
					<FlameMenu
						title={nameOf(graph, menu.node)}
						place={menu}
						actions={menuActions(menu.node)}
						onClose={closeMenu}
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

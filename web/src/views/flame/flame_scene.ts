/* Interaction with the canvas of a flame graph: the stage follows the data, the zoom and the theme;
 * pointers and keys become zooms, moves of the cursor, tips and menus. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { paintOf } from '../../logic/flame/flame_colours';
import { flameCommand } from '../../logic/flame/flame_keys';
import type { FlameGraph } from '../../logic/flame/flame_layout';
import { findPath, foldedStack, pathOf } from '../../logic/flame/flame_path';
import { searchGraph } from '../../logic/flame/flame_search';
import { clampView } from '../../logic/flame/flame_view';
import { nodeLabel } from '../../logic/flame/flame_words';
import { copyText } from '../../state/copy';
import { dark } from '../../state/theme';
import { scale } from '../../state/scale';
import type { FlameCanvasProps } from './flame_canvas';
import type { MenuPlace } from './flame_menu';
import type { TipPlace } from './flame_parts';
import { listenToPointers, type PointerEvents } from './flame_pointer';
import { FlameStage } from './flame_stage';

export function copyStack(graph: FlameGraph, node: number): void {
	void copyText(foldedStack(graph, node), 'The stack is on the clipboard.');
}

/** A stage that is as large as the element around its canvas, and gets the pointers of it. */
function useStage(events: PointerEvents) {
	const host = useRef<HTMLDivElement>(null);
	const canvas = useRef<HTMLCanvasElement>(null);
	const stage = useRef<FlameStage | null>(null);
	const latest = useRef(events);
	latest.current = events;
	useLayoutEffect(() => {
		const element = host.current!;
		const made = (stage.current = new FlameStage(canvas.current!));
		const fit = () => made.resize(element.clientWidth, element.clientHeight);
		const observer = new ResizeObserver(fit);
		observer.observe(element);
		fit();
		const off = listenToPointers(element, made, {
			hover: (...what) => latest.current.hover(...what),
			click: (node) => latest.current.click(node),
			reset: () => latest.current.reset(),
			menu: (...what) => latest.current.menu(...what),
		});
		return () => {
			observer.disconnect();
			off();
			made.stop();
		};
	}, []);
	return { host, canvas, stage };
}

/** Puts graph, colours and matches onto the stage when they change. */
function useShow(stage: { current: FlameStage | null }, props: FlameCanvasProps): void {
	const { graph, colour, root, search } = props;
	const isDark = dark.value;
	const matches = useMemo(() => searchGraph(graph, search), [graph, search]);
	const paint = useMemo(
		() => paintOf(graph, colour, isDark, matches),
		[graph, colour, isDark, matches],
	);
	const onDrawn = useRef(props.onDrawn);
	onDrawn.current = props.onDrawn;
	const drawn = useRef<FlameGraph | null>(null);
	useLayoutEffect(() => stage.current!.dress(isDark), [isDark, scale.value]);
	useLayoutEffect(() => {
		const s = stage.current!;
		s.root = root;
		s.marked = matches?.nodes ?? null;
		s.labelOf = (node) => nodeLabel(graph, node);
		s.onPaint = () => {
			if (drawn.current === graph) return;
			drawn.current = graph;
			onDrawn.current?.(graph);
		};
		s.show(graph, paint);
	}, [graph, paint, root]);
}

/** Keeps the node that is zoomed to in sight, also when its position changes with the data. */
function useZoom(stage: { current: FlameStage | null }, props: FlameCanvasProps) {
	const { graph, focus, onFocus } = props;
	const zoomed = useMemo(() => findPath(graph, focus), [graph, focus]);
	const shown = useRef<FlameGraph | null>(null);
	const showFocus = (smooth: boolean) => {
		if (!graph.count) return;
		const { node } = zoomed;
		stage.current!.moveTo(clampView(graph.x0[node]!, graph.x1[node]!), smooth);
		stage.current!.reveal(node);
	};
	useLayoutEffect(() => {
		const isNew = shown.current !== graph;
		// After panning by hand, the view stays where it is when the data grow.
		const follows = !shown.current || focus !== null || !isNew;
		shown.current = graph;
		if (follows) showFocus(!isNew);
	}, [graph, zoomed]);
	const zoomTo = (node: number) => {
		const path = pathOf(graph, node);
		if (path === focus) showFocus(true);
		else onFocus(path);
	};
	return { zoomed, zoomTo };
}

/** The node that keys act on. Kept as a path, so that it stays when the data change. */
function useCursor(stage: { current: FlameStage | null }, graph: FlameGraph) {
	const [path, setPath] = useState<string | null | undefined>(undefined);
	const cursor = useMemo(
		() => (path === undefined || !graph.count ? -1 : findPath(graph, path).node),
		[graph, path],
	);
	useEffect(() => {
		stage.current!.cursor = cursor;
		if (cursor >= 0) stage.current!.reveal(cursor);
		stage.current!.invalidate();
	}, [cursor]);
	return { cursor, moveCursor: (node: number) => setPath(pathOf(graph, node)) };
}

export function useFlameScene(props: FlameCanvasProps) {
	const { graph, root } = props;
	const [tip, setTip] = useState<TipPlace | null>(null);
	const [menu, setMenu] = useState<MenuPlace | null>(null);
	const { host, canvas, stage } = useStage({
		hover: (node, x, y) => {
			setTip(node < 0 ? null : { node, x, y });
			if (stage.current!.hover === node) return;
			stage.current!.hover = node;
			stage.current!.invalidate();
		},
		click: (node) => zoomTo(node),
		reset: () => zoomTo(0),
		menu: (node, x, y) => setMenu({ node, x, y }),
	});
	useShow(stage, props);
	const { zoomed, zoomTo } = useZoom(stage, props);
	const { cursor, moveCursor } = useCursor(stage, graph);
	const openMenu = (node: number) => {
		const box = stage.current!.boxOf(node);
		setMenu({ node, x: box.left + 10, y: box.top + box.height });
	};
	const closeMenu = (back: boolean) => {
		setMenu(null);
		if (back) host.current!.focus();
	};
	const onKeyDown = (e: KeyboardEvent) => {
		const command = flameCommand(graph, cursor, zoomed.node, root, e);
		if (!command) return;
		e.preventDefault();
		if (command.kind === 'closer')
			stage.current!.zoomAt(host.current!.clientWidth / 2, command.factor);
		else if (command.kind === 'cursor') moveCursor(command.node);
		else if (command.kind === 'zoom') zoomTo(command.node);
		else if (command.kind === 'menu') openMenu(command.node);
		else copyStack(graph, command.node);
	};
	return {
		host,
		canvas,
		zoomed,
		zoomTo,
		onKeyDown,
		closeMenu,
		cursor: Math.max(0, cursor),
		tip: tip && !menu && tip.node < graph.count ? tip : null,
		menu: menu && menu.node < graph.count ? menu : null,
	};
}

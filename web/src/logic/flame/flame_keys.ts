/* Keys on a flame graph: the command of each key, given the node at the cursor. */
import type { FlameGraph } from './flame_layout';
import { besideNode, broadestChild } from './flame_path';

type FlameCommand =
	{ kind: 'cursor' | 'zoom' | 'menu' | 'copy'; node: number } | { kind: 'closer'; factor: number };

const CLOSER = 0.7;

function moved(
	graph: FlameGraph,
	node: number,
	key: string,
	rootAt: 'top' | 'bottom',
): number | null {
	const [deeper, back] = rootAt === 'top' ? ['ArrowDown', 'ArrowUp'] : ['ArrowUp', 'ArrowDown'];
	switch (key) {
		case deeper:
			return broadestChild(graph, node);
		case back:
			return node > 0 ? graph.parent[node]! : 0;
		case 'ArrowLeft':
			return besideNode(graph, node, -1);
		case 'ArrowRight':
			return besideNode(graph, node, 1);
		case 'Home':
			return 0;
		default:
			return null;
	}
}

/** @focus is the node that is zoomed to. Returns null if the graph does not use the key. */
export function flameCommand(
	graph: FlameGraph,
	cursor: number,
	focus: number,
	rootAt: 'top' | 'bottom',
	press: { key: string; shiftKey: boolean; ctrlKey: boolean; metaKey: boolean; altKey: boolean },
): FlameCommand | null {
	if (!graph.count || press.ctrlKey || press.metaKey || press.altKey) return null;
	if (press.key === 'ContextMenu' || (press.key === 'F10' && press.shiftKey) || press.key === 'm')
		return { kind: 'menu', node: Math.max(cursor, focus) };
	// The first arrow key only shows the cursor.
	const here = cursor < 0 ? focus : cursor;
	const to = moved(graph, here, press.key, rootAt);
	if (to !== null)
		return { kind: 'cursor', node: cursor < 0 ? focus : Math.max(0, to < 0 ? here : to) };
	switch (press.key) {
		case 'Enter':
		case ' ':
			return { kind: 'zoom', node: here };
		case 'Backspace':
			return { kind: 'zoom', node: focus > 0 ? graph.parent[focus]! : 0 };
		case 'Escape':
			return { kind: 'zoom', node: 0 };
		case 'c':
			return { kind: 'copy', node: here };
		case '+':
		case '=':
			return { kind: 'closer', factor: CLOSER };
		case '-':
			return { kind: 'closer', factor: 1 / CLOSER };
		default:
			return null;
	}
}

/* Mouse, touch and wheel on a flame graph: hover, click, drag, pinch, scroll. */
import type { FlameStage } from './flame_stage';

export interface PointerEvents {
	hover: (node: number, x: number, y: number) => void;
	click: (node: number) => void;
	reset: () => void;
	menu: (node: number, x: number, y: number) => void;
}

/** A shorter movement is a click by an unsteady hand. */
const DRAG_FROM = 4;

interface Drag {
	x: number;
	y: number;
	moved: boolean;
}

/** Detects second clicks: they would zoom to whatever the first has moved under the pointer. */
function secondClicks(): (e: Event) => boolean {
	let last = -1000;
	return (e) => {
		const second = e.timeStamp - last < 300;
		if (!second) last = e.timeStamp;
		return second;
	};
}

/** Returns a function that removes all listeners. */
export function listenToPointers(
	element: HTMLElement,
	stage: FlameStage,
	events: PointerEvents,
): () => void {
	const down = new Map<number, Drag>();
	const off = new AbortController();
	const on = <K extends keyof HTMLElementEventMap>(
		kind: K,
		heard: (e: HTMLElementEventMap[K]) => void,
	) => element.addEventListener(kind, heard, { signal: off.signal, passive: false });
	const place = (e: MouseEvent): [number, number] => {
		const box = element.getBoundingClientRect();
		return [e.clientX - box.left, e.clientY - box.top];
	};
	const nodeUnder = (e: MouseEvent) => stage.nodeAt(...place(e));
	const isSecond = secondClicks();

	on('pointerdown', (e) => {
		if (e.button) return;
		const [x, y] = place(e);
		down.set(e.pointerId, { x, y, moved: down.size > 0 });
	});
	on('pointermove', (e) => {
		const [x, y] = place(e);
		const drag = down.get(e.pointerId);
		if (!drag) return events.hover(stage.nodeAt(x, y), x, y);
		if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < DRAG_FROM) return;
		if (!drag.moved) element.setPointerCapture(e.pointerId);
		for (const each of down.values()) each.moved = true;
		events.hover(-1, 0, 0);
		if (down.size === 2) pinch(stage, down, e.pointerId, x);
		else stage.panBy(drag.x - x, drag.y - y);
		[drag.x, drag.y] = [x, y];
	});
	const up = (e: PointerEvent) => {
		const drag = down.get(e.pointerId);
		down.delete(e.pointerId);
		if (!drag || drag.moved || e.type === 'pointercancel' || isSecond(e)) return;
		const node = nodeUnder(e);
		if (node >= 0) events.click(node);
	};
	on('pointerup', up);
	on('pointercancel', up);
	on('pointerleave', () => events.hover(-1, 0, 0));
	on('dblclick', events.reset);
	on('contextmenu', (e) => {
		const node = nodeUnder(e);
		if (node < 0) return;
		e.preventDefault();
		down.clear();
		events.menu(node, ...place(e));
	});
	on('wheel', (e) => {
		const [x] = place(e);
		if (wheel(stage, e, x)) e.preventDefault();
		events.hover(-1, 0, 0);
	});
	return () => off.abort();
}

/** One finger has moved to @x: zooms so that the content between the two follows them. */
function pinch(stage: FlameStage, down: Map<number, Drag>, moving: number, x: number): void {
	const before = down.get(moving)!.x;
	const other = [...down].find(([id]) => id !== moving)![1].x;
	const wide = Math.abs(x - other);
	if (wide > 10) stage.zoomAt(other, Math.abs(before - other) / wide);
}

const LINE_PX = 30;
const ZOOM_A_PIXEL = 0.004;

/** Returns whether the wheel changed the view; if not, the page may scroll. */
function wheel(stage: FlameStage, e: WheelEvent, x: number): boolean {
	const unit = e.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : LINE_PX;
	const [dx, dy] = [e.deltaX * unit, e.deltaY * unit];
	if (e.ctrlKey || e.metaKey) {
		stage.zoomAt(x, Math.exp(Math.max(-200, Math.min(200, dy)) * ZOOM_A_PIXEL));
		return true;
	}
	const [left, top] = [stage.view.left, stage.scroll];
	if (e.shiftKey || Math.abs(dx) > Math.abs(dy)) stage.panBy(dx || dy, 0);
	else stage.panBy(0, dy);
	return left !== stage.view.left || top !== stage.scroll;
}

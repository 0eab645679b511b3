/* Pointers, wheel and keys on the timeline. Drag: brush; Shift: the second brush; Alt or the zoom
 * tool: zoom box; middle button: pan; two fingers: zoom and pan. The arithmetic is in
 * logic/timeline/timeline_range.ts, the state in state/timeline.ts. */
import { signal } from '@preact/signals';
import type { Window } from '../../logic/address';
import * as ranges from '../../logic/timeline/timeline_range';
import { address } from '../../state/address';
import {
	brushDone,
	brushes,
	brushTo,
	clearBrushes,
	cursor,
	secondNext,
	setBrush,
	visible,
	whole,
	zoomTo,
} from '../../state/timeline';

/** The zoom box that is being drawn. */
export const box = signal<Window | null>(null);
/** The zoom tool: a plain drag draws a box instead of a brush. */
export const boxTool = signal(false);

/** Vertical position of the pointer, for plots in which the height means something. */
export const pointerY = signal<number | null>(null);
/** A press without a drag, until a plot has handled it. */
export const tapped = signal(false);

/** A press that moves less than this is a click. */
const DRAG_PX = 3;
const EDGE_MOUSE_PX = 5;
const EDGE_TOUCH_PX = 16;
const WHEEL_STEP = 0.0018;

type Drag =
	| { kind: 'brush'; grip: ranges.Grip; before: Window | null; startNs: number }
	| { kind: 'box'; startNs: number }
	| { kind: 'pan'; start: Window; startPart: number }
	| { kind: 'pinch'; start: Window; was: [number, number] };

type Listeners = { [K in keyof HTMLElementEventMap]?: (e: HTMLElementEventMap[K]) => void };

/** Adds all listeners. Returns a function that removes them. */
export function listen(element: HTMLElement, listeners: Listeners): () => void {
	const all = Object.entries(listeners) as [string, EventListener][];
	for (const [name, listener] of all) element.addEventListener(name, listener);
	return () => {
		for (const [name, listener] of all) element.removeEventListener(name, listener);
	};
}

function partOf(e: { clientX: number }, area: HTMLElement): number {
	const rect = area.getBoundingClientRect();
	return (e.clientX - rect.left) / rect.width;
}

/** The window that a new drag makes: the first one if there is none yet. */
export function freshBrush(e: PointerEvent): ranges.Brush {
	return (e.shiftKey || secondNext.peek()) && brushes.peek().window ? 'second' : 'window';
}

/** The drag that a press begins. The bars of brushes have data-grip. */
function begin(e: PointerEvent, area: HTMLElement): Drag {
	const range = visible.peek();
	const part = partOf(e, area);
	const startNs = ranges.timeAt(part, range);
	if (e.button === 1) return { kind: 'pan', start: range, startPart: part };
	if (e.altKey || boxTool.peek()) return { kind: 'box', startNs };
	const bar = (e.target as HTMLElement).dataset.grip as ranges.Brush | undefined;
	const reach = e.pointerType === 'mouse' ? EDGE_MOUSE_PX : EDGE_TOUCH_PX;
	const width = area.clientWidth;
	const edge = ranges.gripAt(part * width, brushes.peek(), range, width, reach);
	const fresh = freshBrush(e);
	const grip: ranges.Grip =
		fresh === 'second' || !(edge || bar)
			? { brush: fresh, part: 'new' }
			: (edge ?? { brush: bar!, part: 'all' });
	return { kind: 'brush', grip, before: brushes.peek()[grip.brush], startNs };
}

function move(drag: Drag, part: number): void {
	const now = ranges.timeAt(part, visible.peek());
	if (drag.kind === 'brush')
		brushTo(
			drag.grip.brush,
			ranges.dragged(drag.grip, drag.before, drag.startNs, now, whole.peek()),
		);
	else if (drag.kind === 'box')
		box.value = { from: Math.min(drag.startNs, now), to: Math.max(drag.startNs, now) };
	else if (drag.kind === 'pan') zoomTo(ranges.pan(drag.start, drag.startPart - part, whole.peek()));
}

function finish(drag: Drag): void {
	if (drag.kind === 'brush') brushDone(drag.grip.part === 'new' && drag.grip.brush === 'second');
	if (drag.kind === 'box') {
		const drawn = box.peek();
		box.value = null;
		boxTool.value = false;
		if (drawn) zoomTo(ranges.fit(drawn, whole.peek()));
	}
}

/** Follows pointers on @area. Returns a function that stops this. */
export function followPointers(area: HTMLElement): () => void {
	const pointers = new Map<number, number>();
	let drag: Drag | null = null;
	let startX = 0;
	let moved = false;

	const down = (e: PointerEvent) => {
		if (e.button > 1) return;
		if (e.button === 1) e.preventDefault();
		pointers.set(e.pointerId, partOf(e, area));
		area.setPointerCapture(e.pointerId);
		if (pointers.size === 2) {
			if (drag && moved) finish(drag);
			const [a, b] = [...pointers.values()] as [number, number];
			drag = { kind: 'pinch', start: visible.peek(), was: [a, b] };
			moved = true;
			return;
		}
		tapped.value = false;
		drag = begin(e, area);
		startX = e.clientX;
		moved = false;
	};
	const moving = (e: PointerEvent) => {
		const part = partOf(e, area);
		tapped.value = false;
		if (!drag || drag.kind !== 'pan') cursor.value = ranges.timeAt(part, visible.peek());
		pointerY.value = drag ? null : e.clientY;
		if (!pointers.has(e.pointerId) || !drag) return;
		pointers.set(e.pointerId, part);
		if (drag.kind === 'pinch') {
			const now = [...pointers.values()] as [number, number];
			if (now.length === 2) zoomTo(ranges.pinch(drag.start, drag.was, now, whole.peek()));
			return;
		}
		moved ||= Math.abs(e.clientX - startX) > DRAG_PX;
		if (moved) move(drag, part);
	};
	const up = (e: PointerEvent) => {
		pointers.delete(e.pointerId);
		if (pointers.size) return;
		if (drag && moved) finish(drag);
		else if (e.type === 'pointerup' && e.button === 0) tapped.value = true;
		drag = null;
	};
	const leave = (e: PointerEvent) => {
		if (!drag && e.pointerType === 'mouse') cursor.value = null;
	};
	return listen(area, {
		pointerdown: down,
		pointermove: moving,
		pointerup: up,
		pointercancel: up,
		pointerleave: leave,
		dblclick: clearBrushes,
	});
}

/** Wheel: zoom around the pointer; with Shift, or sideways: pan. */
export function followWheel(area: HTMLElement): () => void {
	const wheel = (e: WheelEvent) => {
		if (e.ctrlKey) return;
		e.preventDefault();
		const line = e.deltaMode === 1 ? 16 : 1;
		const sideways = e.shiftKey ? e.deltaY || e.deltaX : e.deltaX;
		if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
			zoomTo(ranges.pan(visible.peek(), (sideways * line) / area.clientWidth, whole.peek()));
		else {
			const factor = Math.exp(e.deltaY * line * WHEEL_STEP);
			zoomTo(ranges.zoomAround(visible.peek(), partOf(e, area), factor, whole.peek()));
		}
	};
	area.addEventListener('wheel', wheel, { passive: false });
	return () => area.removeEventListener('wheel', wheel);
}

/** The axis below the plots: dragging it pans. */
export function followPan(axis: HTMLElement): () => void {
	let held: { start: Window; startPart: number } | null = null;
	const down = (e: PointerEvent) => {
		axis.setPointerCapture(e.pointerId);
		held = { start: visible.peek(), startPart: partOf(e, axis) };
	};
	const moving = (e: PointerEvent) => {
		if (held) zoomTo(ranges.pan(held.start, held.startPart - partOf(e, axis), whole.peek()));
	};
	const up = () => {
		held = null;
	};
	return listen(axis, {
		pointerdown: down,
		pointermove: moving,
		pointerup: up,
		pointercancel: up,
	});
}

export function zoomBy(factor: number): void {
	const range = visible.peek();
	const at = cursor.peek();
	const part = at === null ? 0.5 : Math.min(Math.max(ranges.partAt(at, range), 0), 1);
	zoomTo(ranges.zoomAround(range, part, factor, whole.peek()));
}

export function zoomToWindow(): void {
	const w = brushes.peek().window;
	if (!w) return;
	const margin = ranges.span(w) * 0.05;
	zoomTo(ranges.fit({ from: w.from - margin, to: w.to + margin }, whole.peek()));
}

/** Moves the cursor; the visible range follows it. */
function step(parts: number): void {
	pointerY.value = null;
	const range = visible.peek();
	const all = whole.peek();
	const from = cursor.peek() ?? ranges.timeAt(0.5, range);
	const ns = Math.min(Math.max(from + parts * ranges.span(range), all.from), all.to);
	cursor.value = ns;
	if (ns < range.from || ns > range.to) zoomTo(ranges.pan(range, parts, all));
}

function edge(brush: ranges.Brush, which: 'from' | 'to'): void {
	const ns = cursor.peek() ?? ranges.timeAt(0.5, visible.peek());
	setBrush(brush, ranges.setEdge(brushes.peek()[brush], which, ns, visible.peek()));
}

const KEYS: Record<string, () => unknown> = {
	ArrowLeft: () => step(-0.01),
	ArrowRight: () => step(0.01),
	'Shift+ArrowLeft': () => zoomTo(ranges.pan(visible.peek(), -0.2, whole.peek())),
	'Shift+ArrowRight': () => zoomTo(ranges.pan(visible.peek(), 0.2, whole.peek())),
	PageUp: () => step(-0.1),
	PageDown: () => step(0.1),
	Home: () => (cursor.value = visible.peek().from),
	End: () => (cursor.value = visible.peek().to),
	'+': () => zoomBy(0.5),
	'=': () => zoomBy(0.5),
	'-': () => zoomBy(2),
	'0': () => zoomTo(null),
	'[': () => edge('window', 'from'),
	']': () => edge('window', 'to'),
	'{': () => edge('second', 'from'),
	'}': () => edge('second', 'to'),
	// On points, Enter acts as a click.
	Enter: () => (address.peek().plot === 'lines' ? zoomToWindow() : (tapped.value = true)),
	Escape: () => (boxTool.peek() ? (boxTool.value = false) : clearBrushes()),
};

/** Keys while the timeline has the focus. */
export function timelineKey(e: KeyboardEvent): void {
	if (e.ctrlKey || e.metaKey || e.altKey) return;
	const arrow = e.key.startsWith('Arrow');
	const action = KEYS[e.shiftKey && arrow ? 'Shift+' + e.key : e.key];
	if (!action) return;
	e.preventDefault();
	e.stopPropagation();
	action();
}

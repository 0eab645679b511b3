/* Short messages at the edge of the screen, some with "Undo". */
import { signal } from '@preact/signals';

export interface Toast {
	id: number;
	text: string;
	kind: 'info' | 'error';
	undo?: () => void;
	/** Another action that is offered. */
	action?: { label: string; run: () => void };
}

interface More {
	kind?: Toast['kind'];
	undo?: () => void;
	action?: Toast['action'];
	ms?: number;
	/** Called when the message goes, unless it was undone. */
	ended?: () => void;
}

const MOST = 4;

export const toasts = signal<Toast[]>([]);
/** Timers of the messages. They stand still while the pointer or the focus is on the messages. */
const waiting = new Map<number, { ms: number; timer: number; ended?: () => void }>();
let last = 0;
let held = false;

function start(id: number): void {
	const w = waiting.get(id);
	if (!w) return;
	clearTimeout(w.timer);
	if (!held) w.timer = window.setTimeout(() => dismiss(id), w.ms);
}

export function hold(yes: boolean): void {
	held = yes;
	for (const [id, w] of waiting)
		if (yes) clearTimeout(w.timer);
		else start(id);
}

function take(id: number) {
	const w = waiting.get(id);
	clearTimeout(w?.timer);
	waiting.delete(id);
	toasts.value = toasts.value.filter((t) => t.id !== id);
	return w;
}

export function dismiss(id: number): void {
	take(id)?.ended?.();
}

export function undoToast(t: Toast): void {
	take(t.id);
	t.undo?.();
}

export function toast(text: string, more: More = {}): number {
	const id = ++last;
	const kind = more.kind ?? 'info';
	if (toasts.value.length >= MOST) dismiss(toasts.value[0]!.id);
	toasts.value = [...toasts.value, { id, text, kind, undo: more.undo, action: more.action }];
	waiting.set(id, {
		ms: more.ms ?? (kind === 'error' ? 12000 : 6000),
		timer: 0,
		ended: more.ended,
	});
	start(id);
	return id;
}

/** Shows the error of an action that nobody waits for. */
export function tell(error: unknown): void {
	if ((error as Error).name !== 'AbortError') toast((error as Error).message, { kind: 'error' });
}

/* Short messages at the edge of the screen, some with a way back. */
import { signal } from '@preact/signals';

export interface Toast {
	id: number;
	text: string;
	kind: 'info' | 'error';
	undo?: () => void;
}

export const toasts = signal<Toast[]>([]);
let last = 0;

export function dismiss(id: number): void {
	toasts.value = toasts.value.filter((t) => t.id !== id);
}

export function toast(
	text: string,
	more: { kind?: Toast['kind']; undo?: () => void; ms?: number } = {},
) {
	const id = ++last;
	const kind = more.kind ?? 'info';
	toasts.value = [...toasts.value.slice(-3), { id, text, kind, undo: more.undo }];
	setTimeout(() => dismiss(id), more.ms ?? (kind === 'error' ? 12000 : 6000));
	return id;
}

/** For promises of actions that nobody else waits for: what went wrong is said. */
export function tell(error: unknown): void {
	if ((error as Error).name !== 'AbortError') toast((error as Error).message, { kind: 'error' });
}

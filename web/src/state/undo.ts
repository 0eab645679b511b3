/* Deleting with undo: the item disappears at once, but the server is told only when the message
 * with "Undo" goes, or when the page is left. */
import { signal } from '@preact/signals';
import { API, send } from '../api/client';
import { tell, toast } from './toasts';

/** Paths ("benchmark/UUID") to hide: deleted, or about to be. */
export const gone = signal<ReadonlySet<string>>(new Set());
const pending = new Set<string>();

function change(path: string, add: boolean): void {
	const next = new Set(gone.peek());
	if (add) next.add(path);
	else next.delete(path);
	gone.value = next;
}

/** @text says what was deleted: "Run gcc was deleted". @back restores the screen after "Undo". */
export function deleteWithUndo(path: string, text: string, back?: () => void): void {
	if (gone.peek().has(path)) return;
	pending.add(path);
	change(path, true);
	const restore = () => {
		change(path, false);
		back?.();
	};
	toast(text, {
		ms: 8000,
		undo: () => {
			pending.delete(path);
			restore();
		},
		ended: () => {
			if (!pending.delete(path)) return;
			send('DELETE', path).catch((e: unknown) => {
				restore();
				tell(e);
			});
		},
	});
}

addEventListener('pagehide', () => {
	// `keepalive` lets the request outlive the page.
	for (const path of pending)
		void fetch(API + path, { method: 'DELETE', keepalive: true, credentials: 'same-origin' });
	pending.clear();
});

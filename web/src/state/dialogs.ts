/* Which of the dialogs that belong to the whole page is open, and what was typed until it was there. */
import { signal } from '@preact/signals';

export const dialog = signal<'palette' | 'help' | null>(null);

let typed = '';

/** A key that was pressed when a dialog was asked for, but not loaded. It is for that, not for the page. */
export function typeAhead(key: string): void {
	if (key === 'Escape') dialog.value = null;
	if (key === 'Escape' || dialog.peek() !== 'palette') typed = '';
	else if (key === 'Backspace') typed = typed.slice(0, -1);
	else if (key.length === 1) typed += key;
}

export function takeTyped(): string {
	const text = typed;
	typed = '';
	return text;
}

/* Which dialog of the whole page is open, and what was typed before it was loaded. */
import { signal } from '@preact/signals';

export const dialog = signal<'palette' | 'help' | null>(null);

let typed = '';

/** Takes a key pressed while a requested dialog loads: the key is meant for that dialog. */
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

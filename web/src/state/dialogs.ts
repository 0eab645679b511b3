/* Which of the dialogs that belong to the whole page is open. */
import { signal } from '@preact/signals';

export const dialog = signal<'palette' | 'help' | null>(null);

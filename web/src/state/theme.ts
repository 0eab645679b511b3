/* Dark or light: follows the system unless the user has chosen. Kept in this browser. */
import { effect, signal } from '@preact/signals';
import { keep, recall } from './storage';

type Theme = 'system' | 'light' | 'dark';

function stored(): Theme {
	const text = recall('theme');
	return text === 'light' || text === 'dark' ? text : 'system';
}

const system = matchMedia('(prefers-color-scheme: dark)');
export const theme = signal<Theme>(stored());
/** The resulting theme; canvases redraw when it changes. */
export const dark = signal(false);

function resolve(): void {
	const now = theme.value === 'dark' || (theme.value === 'system' && system.matches);
	// Set the CSS tokens first: listeners of `dark` read them.
	document.documentElement.dataset.theme = now ? 'dark' : 'light';
	dark.value = now;
}

effect(() => {
	keep('theme', theme.value === 'system' ? null : theme.value);
	resolve();
});
system.addEventListener('change', resolve);

export function switchTheme(): void {
	theme.value = dark.value ? 'light' : 'dark';
}

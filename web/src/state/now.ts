/* The current time, for seconds counted on the screen. Stops while the page is hidden. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

export const now = signal(Date.now());
let users = 0;
let timer = 0;

function tick(): void {
	if (!document.hidden) now.value = Date.now();
}

/** `now` ticks every second while a component that calls this is mounted and @wanted is true. */
export function useNow(wanted = true): void {
	useEffect(() => {
		if (!wanted) return;
		now.value = Date.now();
		if (!users++) timer = window.setInterval(tick, 1000);
		return () => {
			if (!--users) clearInterval(timer);
		};
	}, [wanted]);
}

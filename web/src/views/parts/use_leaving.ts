import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Calls @leave when the user presses or focuses something outside of all these elements. */
export function useLeaving(inside: RefObject<HTMLElement>[], leave: () => void, open = true): void {
	const latest = useRef(leave);
	latest.current = leave;
	useEffect(() => {
		if (!open) return;
		const look = (e: Event) => {
			if (!inside.some((one) => one.current?.contains(e.target as Node))) latest.current();
		};
		document.addEventListener('pointerdown', look);
		document.addEventListener('focusin', look);
		return () => {
			document.removeEventListener('pointerdown', look);
			document.removeEventListener('focusin', look);
		};
	}, [open]);
}

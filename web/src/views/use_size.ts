import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** How wide the element of `ref` is: 0 until it is there. */
export function useWidth<E extends HTMLElement>(): { ref: RefObject<E>; width: number } {
	const ref = useRef<E>(null);
	const [width, setWidth] = useState(0);
	useLayoutEffect(() => {
		const observer = new ResizeObserver(() => setWidth(ref.current!.clientWidth));
		observer.observe(ref.current!);
		return () => observer.disconnect();
	}, []);
	return { ref, width };
}

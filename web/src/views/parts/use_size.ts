import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** The size of the element of `ref`; 0 until it is laid out. */
export function useSize<E extends HTMLElement>(): {
	ref: RefObject<E>;
	width: number;
	height: number;
} {
	const ref = useRef<E>(null);
	const [width, setWidth] = useState(0);
	const [height, setHeight] = useState(0);
	useLayoutEffect(() => {
		const observer = new ResizeObserver(() => {
			setWidth(ref.current!.clientWidth);
			setHeight(ref.current!.clientHeight);
		});
		observer.observe(ref.current!);
		return () => observer.disconnect();
	}, []);
	return { ref, width, height };
}

/* A panel beside an element, above everything else: scrolling panes do not cut it off. */
import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { placeBeside, type Placed } from '../../logic/floating';
import { px } from '../../state/scale';
import { useLeaving } from './use_leaving';

export function Floating(props: {
	anchor: RefObject<HTMLElement>;
	/** Wanted size, at the usual size of text; the screen limits it. */
	width: number;
	height: number;
	class?: string;
	role?: 'dialog' | 'menu' | 'listbox';
	label?: string;
	/** Called on a click elsewhere, or when the focus goes elsewhere. */
	onLeave: () => void;
	children: ComponentChildren;
}) {
	const { anchor } = props;
	const [width, height] = [px(props.width), px(props.height)];
	const box = useRef<HTMLDivElement>(null);
	const [placed, setPlaced] = useState<Placed | null>(null);
	useLeaving([box, anchor], props.onLeave);
	useLayoutEffect(() => {
		const place = () => {
			const at = anchor.current?.getBoundingClientRect();
			if (at) setPlaced(placeBeside(at, { width, height }, innerWidth, innerHeight));
		};
		const observer = new ResizeObserver(place);
		if (anchor.current) observer.observe(anchor.current);
		addEventListener('scroll', place, true);
		addEventListener('resize', place);
		place();
		return () => {
			observer.disconnect();
			removeEventListener('scroll', place, true);
			removeEventListener('resize', place);
		};
	}, [width, height]);
	return (
		<div
			ref={box}
			class={'popover floating ' + (props.class ?? '')}
			role={props.role}
			aria-label={props.label}
			style={{ position: 'fixed', visibility: placed ? 'visible' : 'hidden', ...placed }}
		>
			{props.children}
		</div>
	);
}

/* A panel beside an element, over everything else: panes that scroll do not cut it off. */
import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { placeBeside, type Placed } from '../../logic/floating';
import { px } from '../../state/scale';
import { useLeaving } from './use_leaving';

export function Floating(props: {
	anchor: RefObject<HTMLElement>;
	/** Wanted, at the usual size of text; it gets what the screen has. */
	width: number;
	height: number;
	class?: string;
	role?: 'dialog' | 'menu' | 'listbox';
	label?: string;
	/** A click or the focus elsewhere. */
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

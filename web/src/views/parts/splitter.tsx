/* The bar between timeline and panel: dragged, or moved by the arrow keys. */
import type { Signal } from '@preact/signals';
import { useRef } from 'preact/hooks';

const LEAST = 15;
const MOST = 85;
const STEP = 4;

function within(percent: number): number {
	return Math.round(Math.min(MOST, Math.max(LEAST, percent)) * 10) / 10;
}

/** @part: the share of its parent that the element above has, in percent. */
export function Splitter(props: { part: Signal<number>; standard: number; name: string }) {
	const bar = useRef<HTMLDivElement>(null);
	const drag = (e: PointerEvent) => {
		if (!bar.current?.hasPointerCapture(e.pointerId)) return;
		const box = bar.current.parentElement!.getBoundingClientRect();
		props.part.value = within(((e.clientY - box.top) / box.height) * 100);
	};
	const move = (e: KeyboardEvent) => {
		const to = {
			ArrowUp: props.part.value - STEP,
			ArrowDown: props.part.value + STEP,
			Home: LEAST,
			End: MOST,
			Enter: props.standard,
		}[e.key];
		if (to === undefined) return;
		e.preventDefault();
		props.part.value = within(to);
	};
	return (
		<div
			ref={bar}
			class="splitter"
			role="separator"
			tabIndex={0}
			aria-label={props.name}
			aria-orientation="horizontal"
			aria-valuemin={LEAST}
			aria-valuemax={MOST}
			aria-valuenow={Math.round(props.part.value)}
			title="Drag to resize; double click for the usual height"
			onPointerDown={(e) => {
				e.preventDefault();
				bar.current!.setPointerCapture(e.pointerId);
			}}
			onPointerMove={drag}
			onDblClick={() => (props.part.value = props.standard)}
			onKeyDown={move}
		/>
	);
}

/* Activity over time as a low row of bars, on a canvas. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Column } from '../../api/types';
import type { Window } from '../../logic/address';
import { dark } from '../../state/theme';

interface StripProps {
	cells: Column;
	/** The value that fills the height of the strip. */
	max: number;
	/** The time range of the strip, and the selected part of it. */
	range: Window;
	window: Window | null;
	/** A change of it redraws the strip. */
	width: number;
	colour: '--series-1' | '--series-6';
}

function draw(canvas: HTMLCanvasElement, p: StripProps): void {
	const style = getComputedStyle(document.documentElement);
	const { clientWidth: width, clientHeight: height } = canvas;
	const ratio = devicePixelRatio || 1;
	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	const c = canvas.getContext('2d')!;
	c.scale(ratio, ratio);
	const x = (ns: number) => ((ns - p.range.from) / Math.max(1, p.range.to - p.range.from)) * width;
	if (p.window) {
		c.fillStyle = style.getPropertyValue('--brush');
		c.fillRect(x(p.window.from), 0, x(p.window.to) - x(p.window.from), height);
	}
	c.fillStyle = style.getPropertyValue('--line');
	c.fillRect(0, height - 1, width, 1);
	c.fillStyle = style.getPropertyValue(p.colour);
	const step = width / Math.max(1, p.cells.length);
	for (let i = 0; i < p.cells.length; i++) {
		if (!p.cells[i]) continue;
		// Square root: one sample must be visible beside a busy thread.
		const high = Math.max(2, Math.sqrt(p.cells[i]! / (p.max || 1)) * height);
		c.fillRect(i * step, height - high, Math.max(1, step), high);
	}
}

export function Strip(props: StripProps) {
	const ref = useRef<HTMLCanvasElement>(null);
	const isDark = dark.value;
	useLayoutEffect(
		() => draw(ref.current!, props),
		[props.cells, props.max, props.range, props.window, props.width, isDark],
	);
	return <canvas ref={ref} class="strip" aria-hidden="true" />;
}

/* Panels at a point of a graph, which may be lower than they are: they are put on the screen, over all. */
import { besidePoint } from '../../logic/floating';

/** @at: within the element that the panel is in, which has `position: fixed` itself. */
export function putBeside(panel: HTMLElement, at: { x: number; y: number }, gap: number): void {
	const host = panel.parentElement!.getBoundingClientRect();
	const { left, top } = besidePoint(
		{ x: host.left + at.x, y: host.top + at.y },
		gap,
		{ width: panel.offsetWidth, height: panel.offsetHeight },
		{ width: innerWidth, height: innerHeight },
	);
	panel.style.left = `${left}px`;
	panel.style.top = `${top}px`;
}

/* Places a panel at a point of a graph. The graph may be lower than the panel, so the panel is
 * placed on the screen, above everything. */
import { besidePoint } from '../../logic/floating';

/** @at: relative to the panel's parent. The panel must have `position: fixed`. */
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

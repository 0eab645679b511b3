/* How much larger than usual text is: the root's font size follows the reader's settings and the screen
 * (base.css). What we draw, or place by ourselves, follows it by this. */
import { signal } from '@preact/signals';
import { USUAL_ROOT_PX } from '../logic/rem';

function measure(): number {
	return parseFloat(getComputedStyle(document.documentElement).fontSize) / USUAL_ROOT_PX;
}

export const scale = signal(measure());
addEventListener('resize', () => (scale.value = measure()));

/** Pixels of what has @usual pixels at the usual size. */
export function px(usual: number): number {
	return Math.round(usual * scale.value);
}

/* Size of text relative to the usual one: the root's font size follows the reader's settings and
 * the screen (base.css). Canvases and computed positions are scaled by this factor. */
import { signal } from '@preact/signals';
import { USUAL_ROOT_PX } from '../logic/rem';

function measure(): number {
	return parseFloat(getComputedStyle(document.documentElement).fontSize) / USUAL_ROOT_PX;
}

export const scale = signal(measure());
addEventListener('resize', () => (scale.value = measure()));

/** Scales @usual, a length in pixels at the usual size of text. */
export function px(usual: number): number {
	return Math.round(usual * scale.value);
}

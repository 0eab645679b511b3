/* Lengths are written in pixels at the usual size of text. They are converted to rem, so that all
 * of the page follows the reader's settings and large screens: style sheets when they are built
 * (vite.config.ts), styles of elements when they are set. */

export const USUAL_ROOT_PX = 16;
/** Lengths up to this stay in pixels, so that thin lines and their gaps stay sharp. */
const THIN_PX = 3;

/** "4px solid" → "0.25rem solid". */
export function pxToRem(text: string): string {
	return text.replace(/(?<![\w.#-])(-?\d*\.?\d+)px\b/g, (whole, number: string) => {
		const px = Number(number);
		return Math.abs(px) <= THIN_PX ? whole : +(px / USUAL_ROOT_PX).toFixed(4) + 'rem';
	});
}

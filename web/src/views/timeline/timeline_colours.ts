/* Colours of the canvases, read from the tokens once for each theme. */
import { computed } from '@preact/signals';
import { dark } from '../../state/theme';

export interface Colours {
	ink: string;
	dim: string;
	line: string;
	surface: string;
	accent: string;
	second: string;
	warn: string;
	bad: string;
	series: string[];
}

export const colours = computed<Colours>(() => {
	void dark.value;
	const style = getComputedStyle(document.documentElement);
	const token = (name: string) => style.getPropertyValue('--' + name).trim();
	return {
		ink: token('ink'),
		dim: token('ink-3'),
		line: token('line'),
		surface: token('surface'),
		accent: token('accent'),
		second: token('second'),
		warn: token('warn'),
		bad: token('bad'),
		series: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => token('series-' + n)),
	};
});

/** Colours from nothing to most; each step also differs in brightness from the one before. */
export const heatStops = computed<string[]>(() => {
	void dark.value;
	const style = getComputedStyle(document.documentElement);
	return [1, 2, 3, 4].map((n) => style.getPropertyValue('--heat-' + n).trim());
});

/** "#0b6e75" and 0.2 → the colour with this opacity. */
export function faint(colour: string, alpha: number): string {
	const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
	return `rgb(${r} ${g} ${b} / ${alpha * 100}%)`;
}

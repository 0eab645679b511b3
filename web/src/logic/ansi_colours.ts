/* Makes the colours that programs ask for readable on the page: text has a contrast of at least 4.5
 * : 1 to its background, in both themes. */
import { TRUE_COLOUR, type Style } from './ansi';

export type Rgb = [number, number, number];

/** The sixteen named colours, light and strong enough to stay distinct after readable(). */
const NAMED: Rgb[] = [
	[46, 52, 54],
	[204, 36, 29],
	[60, 140, 20],
	[180, 130, 0],
	[52, 101, 190],
	[140, 70, 150],
	[6, 140, 150],
	[170, 178, 176],
	[110, 116, 112],
	[239, 70, 60],
	[110, 200, 50],
	[235, 190, 60],
	[100, 150, 230],
	[190, 120, 190],
	[50, 200, 210],
	[240, 240, 236],
];

export function paletteColour(colour: number): Rgb {
	if (colour & TRUE_COLOUR) return [(colour >> 16) & 255, (colour >> 8) & 255, colour & 255];
	if (colour < 16) return NAMED[colour]!;
	if (colour >= 232) {
		const grey = 8 + 10 * (colour - 232);
		return [grey, grey, grey];
	}
	const step = (n: number) => (n ? 55 + 40 * n : 0);
	const cube = colour - 16;
	return [step(Math.floor(cube / 36)), step(Math.floor(cube / 6) % 6), step(cube % 6)];
}

function luminance(rgb: Rgb): number {
	const [r, g, b] = rgb.map((c) => {
		const part = c / 255;
		return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
	});
	return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

export function contrast(a: Rgb, b: Rgb): number {
	const [x, y] = [luminance(a), luminance(b)];
	return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

function mixed(a: Rgb, b: Rgb, part: number): Rgb {
	return a.map((c, i) => Math.round(c + (b[i]! - c) * part)) as Rgb;
}

const CONTRAST = 4.5;

/** The nearest colour to @text that can be read on @behind. */
export function readable(text: Rgb, behind: Rgb): Rgb {
	if (contrast(text, behind) >= CONTRAST) return text;
	// Mix with white or black, whichever contrasts more: one of them always suffices.
	const white: Rgb = [255, 255, 255];
	const black: Rgb = [0, 0, 0];
	const end = contrast(white, behind) >= contrast(black, behind) ? white : black;
	for (let part = 0.1; part < 1; part += 0.1) {
		const tried = mixed(text, end, part);
		if (contrast(tried, behind) >= CONTRAST) return tried;
	}
	return end;
}

export interface Shown {
	color?: string;
	background?: string;
}

function css(rgb: Rgb): string {
	return `rgb(${rgb.join(' ')})`;
}

/** @ink and @paper are the page's own colours of text and background. */
export function shownColours(style: Style, ink: Rgb, paper: Rgb): Shown {
	let fg = style.fg === null ? ink : paletteColour(style.fg);
	let bg = style.bg === null ? paper : paletteColour(style.bg);
	if (style.inverse) [fg, bg] = [bg, fg];
	const plain = style.fg === null && style.bg === null && !style.inverse;
	if (plain && !style.dim) return {};
	const text = readable(style.dim ? mixed(fg, bg, 0.4) : fg, bg);
	return bg === paper ? { color: css(text) } : { color: css(text), background: css(bg) };
}

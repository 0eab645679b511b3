/* Output for terminals as lines of styled text. Colours and text attributes are understood, and
 * what progress bars use: carriage return, backspace, tabs, erasing within a line. All other
 * control sequences are dropped. Text may be passed in pieces, cut anywhere. */

/** Colours: null is the default, 0…255 of the palette, or 0x1000000 | rgb. */
export interface Style {
	fg: number | null;
	bg: number | null;
	bold: boolean;
	dim: boolean;
	italic: boolean;
	underline: boolean;
	inverse: boolean;
	strike: boolean;
}

export const TRUE_COLOUR = 0x1000000;

const PLAIN: Style = {
	fg: null,
	bg: null,
	bold: false,
	dim: false,
	italic: false,
	underline: false,
	inverse: false,
	strike: false,
};

/** Styles by number; 0 is plain. */
export const styles: Style[] = [PLAIN];
const numbers = new Map<string, number>([[JSON.stringify(PLAIN), 0]]);
/** Limit of different styles; further ones are shown plain. */
const STYLES_MAX = 4096;

function numberOf(style: Style): number {
	const key = JSON.stringify(style);
	const known = numbers.get(key);
	if (known !== undefined) return known;
	if (styles.length >= STYLES_MAX) return 0;
	numbers.set(key, styles.length);
	return styles.push(style) - 1;
}

/** The style of the text from `start` on. */
export interface Run {
	start: number;
	style: number;
}

export interface OutputLine {
	text: string;
	/** Empty: all plain. */
	runs: Run[];
	stream: 1 | 2;
	/** Continues the line before, which was longer than LINE_MAX. */
	continued: boolean;
}

export const LINE_MAX = 8192;
const TAB = 8;

/** Gives @from … @to of a line the style @style. */
function restyle(runs: Run[], from: number, to: number, style: number): Run[] {
	let after = 0;
	for (const run of runs) if (run.start <= to) after = run.style;
	const out = runs.filter((run) => run.start < from);
	const push = (start: number, next: number) => {
		if ((out.at(-1)?.style ?? 0) !== next) out.push({ start, style: next });
	};
	push(from, style);
	push(to, after);
	for (const run of runs) if (run.start > to) push(run.start, run.style);
	return out;
}

function extended(codes: number[], at: number): { colour: number | null; used: number } {
	if (codes[at + 1] === 5) return { colour: (codes[at + 2] ?? 0) & 255, used: 2 };
	if (codes[at + 1] !== 2) return { colour: null, used: 0 };
	const [r, g, b] = [2, 3, 4].map((i) => Math.min(255, codes[at + i] ?? 0));
	return { colour: TRUE_COLOUR | (r! << 16) | (g! << 8) | b!, used: 4 };
}

const SWITCHES: Record<number, Partial<Style>> = {
	1: { bold: true },
	2: { dim: true },
	3: { italic: true },
	4: { underline: true },
	7: { inverse: true },
	9: { strike: true },
	21: { underline: true },
	22: { bold: false, dim: false },
	23: { italic: false },
	24: { underline: false },
	27: { inverse: false },
	29: { strike: false },
	39: { fg: null },
	49: { bg: null },
};

/** Applies parameters such as "1;31" to a style. */
export function graphics(style: Style, text: string): Style {
	// A colon separates a code from its own arguments: 38:2::R:G:B has an empty one.
	const codes = text
		.replace(/([34]8):2:[^:;]*:(?=\d+:\d+:\d+)/g, '$1:2:')
		.replace(/\b4:0\b/g, '24')
		.replace(/\b4:\d+/g, '4')
		.split(/[;:]/)
		.map(Number);
	let now = style;
	for (let i = 0; i < codes.length; i++) {
		const code = codes[i]!;
		if (code === 0) now = PLAIN;
		else if (SWITCHES[code]) now = { ...now, ...SWITCHES[code] };
		else if (code >= 30 && code <= 37) now = { ...now, fg: code - 30 };
		else if (code >= 40 && code <= 47) now = { ...now, bg: code - 40 };
		else if (code >= 90 && code <= 97) now = { ...now, fg: code - 90 + 8 };
		else if (code >= 100 && code <= 107) now = { ...now, bg: code - 100 + 8 };
		else if (code === 38 || code === 48) {
			const { colour, used } = extended(codes, i);
			now = code === 38 ? { ...now, fg: colour } : { ...now, bg: colour };
			i += used;
		}
	}
	return now;
}

/** A complete escape sequence. UNFINISHED: one that the next piece may complete. */
const ESCAPE =
	/\x1b(?:\[([0-?]*)[ -/]*([@-~])|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|(?=\x1b[^\\]))|[ -/]*[0-Z\\^-~])/y;
const UNFINISHED = /^\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)$/;
/** A longer sequence is not treated as one. */
const ESCAPE_MAX = 4096;
const CONTROL = /[\x00-\x1f\x7f-\x9f]/g;

/** Lines of output as they grow. The last one may still change. */
export class OutputLines {
	readonly lines: OutputLine[] = [];
	/** Number of lines dropped at the front. */
	dropped = 0;
	private style: Record<1 | 2, Style> = { 1: PLAIN, 2: PLAIN };
	private held: Record<1 | 2, string> = { 1: '', 2: '' };
	private stream: 1 | 2 = 1;
	private column = 0;
	/** The last line has not ended yet. */
	private open = false;

	/** Keeps at least the newest @max lines. */
	constructor(private readonly max = Infinity) {}

	push(stream: 1 | 2, piece: string): void {
		if (stream !== this.stream) this.endLine(); // lines of two streams are not mixed
		this.stream = stream;
		const text = this.held[stream] + piece;
		this.held[stream] = '';
		let at = 0;
		while (at < text.length) {
			CONTROL.lastIndex = at;
			const found = CONTROL.exec(text)?.index ?? text.length;
			if (found > at) this.write(text.slice(at, found));
			at = found < text.length ? this.control(text, found) : found;
		}
		this.forget();
	}

	private forget(): void {
		// Not for every line: splice() moves the whole array.
		if (this.lines.length <= 1.25 * this.max) return;
		const gone = this.lines.length - this.max;
		this.lines.splice(0, gone);
		this.dropped += gone;
	}

	/** Handles the control character at @at. Returns where the text goes on. */
	private control(text: string, at: number): number {
		const code = text.charCodeAt(at);
		if (code === 0x1b) return this.escape(text, at);
		if (code === 0x0a) {
			this.line();
			this.endLine();
		} else if (code === 0x0d) this.column = 0;
		else if (code === 0x08) this.column = Math.max(0, this.column - 1);
		else if (code === 0x09) this.write(' '.repeat(TAB - (this.column % TAB)));
		return at + 1;
	}

	private escape(text: string, at: number): number {
		ESCAPE.lastIndex = at;
		const found = ESCAPE.exec(text);
		if (!found) {
			const rest = text.slice(at, at + ESCAPE_MAX + 1);
			if (rest.length > ESCAPE_MAX || !UNFINISHED.test(rest)) return at + 1;
			this.held[this.stream] = rest;
			return text.length;
		}
		const [whole, parameters, letter] = found;
		if (letter === 'm') this.style[this.stream] = graphics(this.style[this.stream], parameters!);
		else if (letter) this.move(letter, Number(parameters!.split(';')[0]));
		return at + whole.length;
	}

	/** Moving and erasing within the line. */
	private move(letter: string, count: number): void {
		if (letter === 'G') this.column = Math.min(LINE_MAX, Math.max(1, count) - 1);
		else if (letter === 'C') this.column = Math.min(LINE_MAX, this.column + Math.max(1, count));
		else if (letter === 'D') this.column = Math.max(0, this.column - Math.max(1, count));
		else if (letter === 'K' && this.open) this.erase(count);
	}

	private erase(what: number): void {
		const line = this.line();
		if (what === 0 || what === 2) {
			const to = what === 2 ? 0 : this.column;
			line.text = line.text.slice(0, to);
			line.runs = line.runs.filter((run) => run.start < to);
		} else if (what === 1) {
			const to = Math.min(this.column, line.text.length);
			line.text = ' '.repeat(to) + line.text.slice(to);
			line.runs = restyle(line.runs, 0, to, 0);
		}
	}

	private write(text: string): void {
		let rest = text;
		while (rest) {
			if (this.column >= LINE_MAX) {
				this.endLine();
				this.line(true);
			}
			const part = rest.slice(0, LINE_MAX - this.column);
			rest = rest.slice(part.length);
			this.put(part);
		}
	}

	private put(text: string): void {
		const line = this.line();
		const style = numberOf(this.style[this.stream]);
		const from = this.column;
		this.column += text.length;
		if (from === line.text.length) {
			line.text += text;
			if ((line.runs.at(-1)?.style ?? 0) !== style) line.runs.push({ start: from, style });
			return;
		}
		const before = line.text.padEnd(from, ' ');
		line.runs = restyle(line.runs, from, this.column, style);
		line.text = before.slice(0, from) + text + before.slice(this.column);
		if (line.runs.at(-1)?.start === line.text.length) line.runs.pop();
	}

	/** The line that is being written. */
	private line(continued = false): OutputLine {
		if (this.open) return this.lines.at(-1)!;
		this.open = true;
		const line: OutputLine = { text: '', runs: [], stream: this.stream, continued };
		this.lines.push(line);
		return line;
	}

	private endLine(): void {
		this.open = false;
		this.column = 0;
	}
}

import { describe, expect, it } from 'vitest';
import { graphics, LINE_MAX, OutputLines, styles, TRUE_COLOUR } from '../src/logic/ansi';
import {
	contrast,
	paletteColour,
	readable,
	shownColours,
	type Rgb,
} from '../src/logic/ansi_colours';
import { MarkedLog } from '../src/logic/live/marked_log';
import { RowIndex, rowStarts, search, segments } from '../src/logic/tables/output_rows';

const ESC = '\x1b';

function lines(...pieces: string[]) {
	const out = new OutputLines();
	for (const piece of pieces) out.push(1, piece);
	return out.lines;
}
const texts = (...pieces: string[]) => lines(...pieces).map((line) => line.text);

/** "red:err plain: rest" of one line. */
function styled(...pieces: string[]) {
	const line = lines(...pieces)[0]!;
	return segments(line, 0, Infinity, [], 0, null).map((s) => [s.text, styles[s.style]!]);
}

describe('text of terminals', () => {
	it('is lines', () => {
		expect(texts('a\nb\n')).toEqual(['a', 'b']);
		expect(texts('a\n\nb')).toEqual(['a', '', 'b']);
		expect(texts('a\r\nb\r\n')).toEqual(['a', 'b']);
		expect(texts('')).toEqual([]);
	});

	it('may be cut anywhere', () => {
		const whole = `one ${ESC}[1;31mred${ESC}[0m\r\n${ESC}]0;title\x07two\tx\n`;
		const expected = lines(whole);
		for (let cut = 1; cut < whole.length; cut++)
			expect(lines(whole.slice(0, cut), whole.slice(cut))).toEqual(expected);
		expect(lines(...whole)).toEqual(expected);
	});

	it('is overwritten by progress bars', () => {
		expect(texts('10%\r20%\r100%\n')).toEqual(['100%']);
		expect(texts('long words\rshort\n')).toEqual(['shortwords']);
		expect(texts(`long words\r${ESC}[Kshort\n`)).toEqual(['short']);
		expect(texts(`abc${ESC}[2Kx\n`)).toEqual(['   x']);
		expect(texts('abc\b\bX\n')).toEqual(['aXc']);
		expect(texts(`abc${ESC}[5GX\n`)).toEqual(['abc X']);
		expect(texts(`abc${ESC}[2DX\n`)).toEqual(['aXc']);
	});

	it('has tabs of eight', () => {
		expect(texts('a\tb\t\tc')).toEqual(['a       b               c']);
	});

	it('loses other control sequences', () => {
		expect(texts(`${ESC}[2J${ESC}[H${ESC}[?25lshown${ESC}[?25h${ESC}(B${ESC}=\x07\x00!`)).toEqual([
			'shown!',
		]);
		expect(texts(`${ESC}]8;;http://x${ESC}\\link${ESC}]8;;${ESC}\\ end`)).toEqual(['link end']);
		expect(texts(`${ESC}Pq#0;2;0${ESC}\\after`)).toEqual(['after']);
	});

	it('does not wait for ever for the end of a sequence', () => {
		expect(texts(`${ESC}]0;` + 'x'.repeat(10_000) + '\n', 'b').at(-1)).toBe('b');
		expect(texts(ESC, '')).toEqual([]);
	});

	it('does not mix lines of two streams', () => {
		const out = new OutputLines();
		out.push(1, `${ESC}[31mhalf`);
		out.push(2, 'error\n');
		out.push(1, 'rest\n');
		expect(out.lines.map((l) => [l.stream, l.text])).toEqual([
			[1, 'half'],
			[2, 'error'],
			[1, 'rest'],
		]);
		expect(out.lines[1]!.runs).toEqual([]);
		expect(styles[out.lines[2]!.runs[0]!.style]!.fg).toBe(1);
	});

	it('cuts endless lines', () => {
		const made = lines('x'.repeat(3 * LINE_MAX - 5));
		expect(made.map((l) => [l.text.length, l.continued])).toEqual([
			[LINE_MAX, false],
			[LINE_MAX, true],
			[LINE_MAX - 5, true],
		]);
	});

	it('keeps the newest lines only, if that is wished', () => {
		const out = new OutputLines(100);
		for (let i = 0; i < 1000; i++) out.push(1, `${i}\n`);
		expect(out.lines.length).toBeLessThanOrEqual(125);
		expect(out.lines[0]!.text).toBe(String(out.dropped));
		expect(out.lines.at(-1)!.text).toBe('999');
	});
});

describe('colours', () => {
	it('are those of the codes', () => {
		const made = styled(`a${ESC}[1;31mb${ESC}[22;4mc${ESC}[0md`);
		expect(made.map(([text]) => text)).toEqual(['a', 'b', 'c', 'd']);
		expect(made[1]![1]).toMatchObject({ fg: 1, bold: true, underline: false });
		expect(made[2]![1]).toMatchObject({ fg: 1, bold: false, underline: true });
		expect(made[3]![1]).toMatchObject({ fg: null, underline: false });
	});

	it('come as 16, 256 or all', () => {
		const plain = styles[0]!;
		expect(graphics(plain, '96;103')).toMatchObject({ fg: 14, bg: 11 });
		expect(graphics(plain, '38;5;208;48;5;16')).toMatchObject({ fg: 208, bg: 16 });
		expect(graphics(plain, '38;2;1;2;3;1')).toMatchObject({
			fg: TRUE_COLOUR | 0x010203,
			bold: true,
		});
		expect(graphics(plain, '38:2::1:2:3')).toMatchObject({ fg: TRUE_COLOUR | 0x010203 });
		expect(graphics(plain, '4:3')).toMatchObject({ underline: true });
		expect(graphics({ ...plain, fg: 3, inverse: true }, '39;27')).toEqual(plain);
		expect(graphics({ ...plain, fg: 3 }, '')).toEqual(plain);
		expect(graphics(plain, '38;9')).toMatchObject({ fg: null });
	});

	it('stay with their text when it is overwritten', () => {
		const made = styled(`${ESC}[31mabcdef${ESC}[0m\r..${ESC}[32mX`);
		expect(made.map(([text, s]) => [text, (s as { fg: number | null }).fg])).toEqual([
			['..', null],
			['X', 2],
			['def', 1],
		]);
	});

	it('can be read in both themes, whatever the program chose', () => {
		const themes: [Rgb, Rgb][] = [
			[
				[24, 32, 38],
				[255, 255, 255],
			],
			[
				[233, 238, 240],
				[26, 33, 37],
			],
		];
		const rgb = (text: string): Rgb => text.match(/\d+/g)!.map(Number) as Rgb;
		for (const [ink, paper] of themes)
			for (let fg = 0; fg < 256; fg++)
				for (const bg of [null, 0, 7, 9, fg, 255 - fg])
					for (const inverse of [false, true]) {
						const style = { ...styles[0]!, fg, bg, inverse, dim: fg % 2 === 0 };
						const shown = shownColours(style, ink, paper);
						const behind = shown.background ? rgb(shown.background) : paper;
						expect(contrast(rgb(shown.color!), behind)).toBeGreaterThanOrEqual(4.5);
					}
	});

	it('are left alone where they can be read', () => {
		expect(readable([180, 0, 0], [255, 255, 255])).toEqual([180, 0, 0]);
		expect(paletteColour(TRUE_COLOUR | 0x102030)).toEqual([16, 32, 48]);
		expect(paletteColour(196)).toEqual([255, 0, 0]);
		expect(paletteColour(244)).toEqual([128, 128, 128]);
		expect(shownColours(styles[0]!, [0, 0, 0], [255, 255, 255])).toEqual({});
	});
});

describe('the log of both streams', () => {
	it('is parted again, cut anywhere', () => {
		const text = 'one\n[stderr] bad [stderr] thing\n[std no\ntwo\n[stderr] x\n';
		for (let cut = 0; cut <= text.length; cut++) {
			const parts = { 1: '', 2: '' };
			const log = new MarkedLog((stream, part) => (parts[stream] += part));
			log.push(text.slice(0, cut));
			log.push(text.slice(cut));
			log.end();
			expect(parts).toEqual({ 1: 'one\n[std no\ntwo\n', 2: 'bad [stderr] thing\nx\n' });
		}
	});

	it('keeps what looks like a mark at the very end', () => {
		const heard: string[] = [];
		const log = new MarkedLog((_, text) => heard.push(text));
		log.push('[std');
		log.end();
		expect(heard).toEqual(['[std']);
	});
});

describe('rows on the screen', () => {
	it('are lines, or parts of those that are wrapped', () => {
		const made = lines('abcdefghij\n\nxyz\n');
		const index = new RowIndex(4);
		index.update(made, 0);
		expect(index.rows).toBe(5);
		expect([0, 1, 2, 3, 4].map((row) => index.at(row))).toEqual([
			{ line: 0, from: 0, to: 4 },
			{ line: 0, from: 4, to: 8 },
			{ line: 0, from: 8, to: Infinity },
			{ line: 1, from: 0, to: Infinity },
			{ line: 2, from: 0, to: Infinity },
		]);
		expect(index.rowOf(0, 9)).toBe(2);
		expect(index.rowOf(2, 0)).toBe(4);
		const flat = new RowIndex(null);
		flat.update(made, 0);
		expect([flat.rows, flat.at(2).line, flat.rowOf(2, 99)]).toEqual([3, 2, 2]);
	});

	it('begin at words', () => {
		const rows = (text: string, columns: number) => {
			const starts = rowStarts(text, columns);
			return starts.map((start, i) => text.slice(start, starts[i + 1]));
		};
		expect(rows('6,000,000 numbers by three', 12)).toEqual(['6,000,000 ', 'numbers by ', 'three']);
		expect(rows('exactly full rows', 7)).toEqual(['exactly ', 'full ', 'rows']);
		// A long word is cut rather than put below an empty row.
		expect(rows('  /a/path/that/is/long', 10)).toEqual(['  /a/path/', 'that/is/lo', 'ng']);
		expect(rows('full    ', 4)).toEqual(['full ', '   ']);
		const index = new RowIndex(12);
		index.update(lines('first\n6,000,000 numbers by three\n'), 0);
		expect([9, 10, 20, 21, 99].map((column) => index.rowOf(1, column))).toEqual([1, 2, 2, 3, 3]);
	});

	it('follow lines that grow and go', () => {
		const out = new OutputLines();
		const index = new RowIndex(4);
		out.push(1, 'abc');
		index.update(out.lines, 0);
		out.push(1, 'defgh\nnext\n');
		index.update(out.lines, 0);
		expect(index.rows).toBe(3);
		index.update(out.lines.slice(1), 1);
		expect(index.rows).toBe(1);
	});

	it('show where something was found', () => {
		const made = lines(`a Foo ${ESC}[31mfoo.${ESC}[0m x\nnothing\nFOO\n`);
		const hits = search(made, 'foo');
		expect(hits).toEqual([
			{ line: 0, start: 2 },
			{ line: 0, start: 6 },
			{ line: 2, start: 0 },
		]);
		expect(search(made, 'o.')).toHaveLength(1);
		expect(search(made, '')).toEqual([]);
		const parts = segments(made[0]!, 0, Infinity, [2, 6], 3, 6);
		expect(parts.map((p) => [p.text, p.hit])).toEqual([
			['a ', 'no'],
			['Foo', 'yes'],
			[' ', 'no'],
			['foo', 'current'],
			['.', 'no'],
			[' x', 'no'],
		]);
		// A row of a wrapped line has its part of a hit.
		expect(segments(made[0]!, 0, 4, [2, 6], 3, null).map((p) => p.text)).toEqual(['a ', 'Fo']);
		expect(segments(made[0]!, 4, 8, [2, 6], 3, null).map((p) => [p.text, p.hit])).toEqual([
			['o', 'yes'],
			[' ', 'no'],
			['fo', 'yes'],
		]);
	});
});

/* Lines of output as rows of a screen, all of one height: one row for each line, or as many as a
 * wrapped line fills. Also splits a row into segments of one style. */
import type { OutputLine } from '../ansi';

export interface Place {
	line: number;
	/** Characters of the line that the row shows. */
	from: number;
	to: number;
}

/** A row is broken at a space only if it is at least this full: otherwise the word is cut. */
const FULL_ENOUGH = 0.4;

/** Where the rows of a line begin: at words, unless that leaves much of a row empty. */
export function rowStarts(text: string, columns: number): number[] {
	const starts = [0];
	for (let from = 0; text.length - from > columns;) {
		// A space at the end of a row is invisible, so the row may be one column too long.
		const space = text.lastIndexOf(' ', from + columns);
		from = space - from >= columns * FULL_ENOUGH ? space + 1 : from + columns;
		if (from < text.length) starts.push(from);
	}
	return starts;
}

export class RowIndex {
	/** By line: the number of rows up to its end. Used only when lines are wrapped. */
	private ends: number[] = [];
	private lines: OutputLine[] = [];
	private dropped = 0;
	private count = 0;
	/** Cache: neighbouring rows often belong to the same line, which may be long. */
	private latest: { text: string; starts: number[] } = { text: '', starts: [0] };

	/** @columns: null does not wrap long lines. */
	constructor(private readonly columns: number | null) {}

	get rows(): number {
		return this.count;
	}

	/** Takes more lines. The last known one may have changed; @dropped are gone in front. */
	update(lines: OutputLine[], dropped: number): void {
		if (this.columns === null) {
			this.count = lines.length;
			return;
		}
		if (dropped !== this.dropped || lines.length < this.ends.length) this.ends = [];
		this.dropped = dropped;
		this.lines = lines;
		this.ends.pop();
		for (let i = this.ends.length; i < lines.length; i++)
			this.ends.push((this.ends[i - 1] ?? 0) + this.starts(i).length);
		this.count = this.ends.at(-1) ?? 0;
	}

	private starts(line: number): number[] {
		const { text } = this.lines[line]!;
		if (text !== this.latest.text) this.latest = { text, starts: rowStarts(text, this.columns!) };
		return this.latest.starts;
	}

	at(row: number): Place {
		if (this.columns === null) return { line: row, from: 0, to: Infinity };
		let [low, high] = [0, this.ends.length - 1];
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.ends[middle]! > row) high = middle;
			else low = middle + 1;
		}
		const starts = this.starts(low);
		const nth = row - (this.ends[low - 1] ?? 0);
		return { line: low, from: starts[nth]!, to: starts[nth + 1] ?? Infinity };
	}

	/** The row that shows a character. */
	rowOf(line: number, column: number): number {
		if (this.columns === null) return line;
		const after = this.starts(line).findIndex((start) => start > column);
		const nth = (after < 0 ? this.starts(line).length : after) - 1;
		return (this.ends[line - 1] ?? 0) + nth;
	}
}

/** Position of a match. */
export interface Hit {
	line: number;
	start: number;
}

/** Nobody steps through more matches. */
export const HITS_MAX = 100_000;

/** Ignores case. */
export function search(lines: OutputLine[], words: string): Hit[] {
	const hits: Hit[] = [];
	if (!words) return hits;
	const pattern = new RegExp(words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'gi');
	for (let line = 0; line < lines.length; line++) {
		const { text } = lines[line]!;
		pattern.lastIndex = 0;
		for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
			hits.push({ line, start: found.index });
			if (hits.length === HITS_MAX) return hits;
		}
	}
	return hits;
}

interface Segment {
	text: string;
	style: number;
	/** Whether the segment belongs to a match. */
	hit: 'no' | 'yes' | 'current';
}

/** @starts: where matches of @length begin in the line; @current: the one that is looked at. */
export function segments(
	line: OutputLine,
	from: number,
	to: number,
	starts: number[],
	length: number,
	current: number | null,
): Segment[] {
	const end = Math.min(to, line.text.length);
	const cuts = new Set([from]);
	for (const run of line.runs) cuts.add(run.start);
	for (const start of starts) cuts.add(start).add(start + length);
	const sorted = [...cuts].filter((cut) => cut >= from && cut < end).sort((a, b) => a - b);
	return sorted.map((cut, i) => {
		const hit = starts.find((start) => start <= cut && cut < start + length);
		let style = 0;
		for (const run of line.runs) if (run.start <= cut) style = run.style;
		return {
			text: line.text.slice(cut, sorted[i + 1] ?? end),
			style,
			hit: hit === undefined ? 'no' : hit === current ? 'current' : 'yes',
		};
	});
}

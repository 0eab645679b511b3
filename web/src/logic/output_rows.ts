/* Lines of output as rows of a screen, all of one height: a line is one row, or as many as it fills where
 * long ones are wrapped. And the parts of a row that look alike. */
import type { OutputLine } from './ansi';

export interface Place {
	line: number;
	/** Characters of the line that the row shows. */
	from: number;
	to: number;
}

export class RowIndex {
	/** By line: how many rows end with it. Only of wrapped ones. */
	private ends: number[] = [];
	private dropped = 0;
	private count = 0;

	/** @columns null: long lines are not wrapped. */
	constructor(private readonly columns: number | null) {}

	get rows(): number {
		return this.count;
	}

	/** There are more lines; the last that was known may have changed, @dropped are gone before the first. */
	update(lines: OutputLine[], dropped: number): void {
		if (this.columns === null) {
			this.count = lines.length;
			return;
		}
		if (dropped !== this.dropped || lines.length < this.ends.length) this.ends = [];
		this.dropped = dropped;
		this.ends.pop();
		for (let i = this.ends.length; i < lines.length; i++)
			this.ends.push((this.ends[i - 1] ?? 0) + this.height(lines[i]!));
		this.count = this.ends.at(-1) ?? 0;
	}

	private height(line: OutputLine): number {
		return Math.max(1, Math.ceil(line.text.length / this.columns!));
	}

	at(row: number): Place {
		if (this.columns === null) return { line: row, from: 0, to: Infinity };
		let [low, high] = [0, this.ends.length - 1];
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.ends[middle]! > row) high = middle;
			else low = middle + 1;
		}
		const from = (row - (this.ends[low - 1] ?? 0)) * this.columns;
		return { line: low, from, to: from + this.columns };
	}

	/** The row that shows a character. */
	rowOf(line: number, column: number): number {
		if (this.columns === null) return line;
		return (this.ends[line - 1] ?? 0) + Math.floor(column / this.columns);
	}
}

/** Where something was found. */
export interface Hit {
	line: number;
	start: number;
}

/** Nobody steps through more. */
export const HITS_MAX = 100_000;

/** Upper and lower case are the same. */
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
	/** Part of something that was searched for. */
	hit: 'no' | 'yes' | 'current';
}

/** @starts: where hits of @length begin in the line; @current: the one of them that is looked at. */
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

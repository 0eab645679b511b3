/* Code of a function with its samples, as rows to be shown: source, assembly, or each line of
 * source above the instructions made of it. */
import type { AnnotatedFunction, CodeInstruction, CodeLine } from '../../api/types';

export type CodeView = 'source' | 'assembly' | 'both';

export interface CodeRow {
	kind: 'file' | 'source' | 'instruction' | 'gap';
	/** Line number, or address. */
	place: string;
	text: string;
	/** After the text: names of addresses, where the code was inlined from. */
	remark: string;
	/** Share of the function's samples, 0 … 1. */
	share: number;
	samples: number;
}

function sourceRow(line: CodeLine, counted: boolean): CodeRow {
	return {
		kind: 'source',
		place: String(line.line),
		text: line.text ?? '',
		remark: line.text === undefined ? 'the text of this line is not known' : '',
		share: counted ? line.share_pct / 100 : 0,
		samples: counted ? line.samples : 0,
	};
}

function instructionRow(i: CodeInstruction): CodeRow {
	const inlined = i.inlined ? `inlined ${i.inlined}` : '';
	return {
		kind: 'instruction',
		place: i.address,
		text: i.text,
		remark: [i.names, inlined].filter(Boolean).join(' · '),
		share: i.share_pct / 100,
		samples: i.samples,
	};
}

function heading(kind: 'file' | 'gap', text: string): CodeRow {
	return { kind, place: '', text, remark: '', share: 0, samples: 0 };
}

function sourceRows(f: AnnotatedFunction): CodeRow[] {
	const rows: CodeRow[] = [];
	let before: CodeLine | null = null;
	for (const line of f.lines) {
		if (line.file !== before?.file) rows.push(heading('file', line.file ?? 'unknown file'));
		else if (before && line.line > before.line + 1) rows.push(heading('gap', '…'));
		rows.push(sourceRow(line, true));
		before = line;
	}
	return rows;
}

function bothRows(f: AnnotatedFunction): CodeRow[] {
	const key = (file: string | undefined, line: number | undefined) => `${file}:${line}`;
	const known = new Map(f.lines.map((line) => [key(line.file, line.line), line]));
	const rows: CodeRow[] = [];
	let file: string | undefined;
	let at = '';
	for (const i of f.instructions) {
		const now = key(i.file, i.line);
		const line = i.line === undefined ? undefined : known.get(now);
		if (line && now !== at) {
			if (i.file !== file) rows.push(heading('file', i.file ?? 'unknown file'));
			file = i.file;
			// Without samples: they are shown at the instructions below.
			if (line.text !== undefined) rows.push(sourceRow(line, false));
		}
		at = now;
		rows.push(instructionRow(i));
	}
	return rows;
}

export function codeRows(f: AnnotatedFunction, view: CodeView): CodeRow[] {
	if (view === 'source') return sourceRows(f);
	return view === 'both' ? bothRows(f) : f.instructions.map(instructionRow);
}

/** The views that can be offered: source needs the text of its lines. */
export function possibleViews(f: AnnotatedFunction): CodeView[] {
	const source = f.lines.some((line) => line.text !== undefined);
	if (!f.instructions.length) return source ? ['source'] : [];
	return source ? ['both', 'source', 'assembly'] : ['assembly'];
}

/** Indices of rows with samples, the hottest first. */
export function hottestRows(rows: CodeRow[]): number[] {
	return rows
		.flatMap((row, at) => (row.share > 0 ? [at] : []))
		.sort((a, b) => rows[b]!.share - rows[a]!.share || a - b);
}

/** The rows as plain text, to be copied. */
export function codeText(rows: CodeRow[]): string {
	return rows
		.map((row) => {
			const share = row.share > 0 ? (row.share * 100).toFixed(1) + ' %' : '';
			const remark = row.remark && row.kind === 'instruction' ? '  # ' + row.remark : '';
			return `${share.padStart(8)}  ${row.place.padStart(10)}  ${row.text}${remark}`.trimEnd();
		})
		.join('\n');
}

/* Conditions on the columns of a table, in the grammar of the server (src/base/predicate.h):
 * `ret < 0 && comm == "cat"`. */
import type { TableCell, TableColumn } from '../../api/types';

/** The server's limit for a text in quotes. */
const TEXT_MAX = 255;

const NAME = /^[A-Za-z_]\w*$/;

/** Texts have no escapes: one with both kinds of quotes cannot be written. */
function quote(text: string): string | null {
	// The field of the condition has one line. Bytes that are no UTF-8 arrive as U+FFFD.
	if (text.length > TEXT_MAX || /[\0\n\r\ufffd]/.test(text)) return null;
	if (!text.includes('"')) return `"${text}"`;
	return text.includes("'") ? null : `'${text}'`;
}

function numberText(cell: string | number): string | null {
	// Larger integers come as texts, with all their digits (api/exact.ts).
	if (typeof cell === 'string') return /^-?\d+$/.test(cell) ? cell : null;
	return Number.isFinite(cell) && Math.abs(cell) <= Number.MAX_SAFE_INTEGER ? String(cell) : null;
}

/** The condition that only rows with this value meet: `ret == 5`. Returns null if the grammar has none:
 * for stacks, for texts with both quotes. Times have none either, because each row has its own. */
export function termOf(
	column: TableColumn,
	cell: TableCell | undefined,
	columns: readonly TableColumn[],
): string | null {
	if (cell === null || cell === undefined) return null;
	if (Array.isArray(cell)) {
		const derived = columns.some((c) => c.name === 'tid' && c.derived);
		return derived ? `tid == ${cell[1]}` : null;
	}
	if (!NAME.test(column.name) || column.type === 'time' || column.type === 'stack') return null;
	const value = column.text
		? quote(String(cell))
		: column.type === 'address'
			? String(cell)
			: numberText(cell);
	return value === null ? null : `${column.name} == ${value}`;
}

/** Pieces of @text outside of quotes; what is in quotes is replaced by blanks. */
function unquoted(text: string): string {
	return text.replace(/"[^"]*"|'[^']*'/g, (found) => ' '.repeat(found.length));
}

/** Positions of @operator outside of quotes and parentheses. */
function placesOf(operator: string, where: string): number[] {
	const plain = unquoted(where);
	const places: number[] = [];
	let depth = 0;
	for (let i = 0; i < plain.length; i++) {
		if (plain[i] === '(') depth++;
		else if (plain[i] === ')') depth--;
		else if (!depth && plain.startsWith(operator, i)) places.push(i++);
	}
	return places;
}

function termsOf(where: string): string[] {
	const cuts = placesOf('&&', where);
	return [...cuts, where.length].map((end, i) => where.slice(i ? cuts[i - 1]! + 2 : 0, end).trim());
}

/** @where and @term. A term that is there already is not added again. */
export function addTerm(where: string | null, term: string): string {
	const before = (where ?? '').trim();
	if (!before) return term;
	if (placesOf('||', before).length) return `(${before}) && ${term}`;
	return termsOf(before).includes(term) ? before : `${before} && ${term}`;
}

/** The columns that a condition mentions. */
export function namesIn(where: string | null): string[] {
	return unquoted(where ?? '').match(/\b[A-Za-z_]\w*/g) ?? [];
}

/** A message of the server: a sentence, and below it the text with a mark under the wrong character. */
export function splitMarked(message: string): { sentence: string; marked: string | null } {
	const cut = message.indexOf('\n');
	if (cut < 0) return { sentence: message, marked: null };
	return { sentence: message.slice(0, cut), marked: message.slice(cut + 1) };
}

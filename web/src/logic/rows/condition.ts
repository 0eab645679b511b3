/* Conditions on the columns of a table, in the grammar of the server (src/base/predicate.h):
 * `ret < 0 && comm == "cat"`. */
import type { TableCell, TableColumn } from '../../api/types';

/** The server's limit for a text in quotes. */
const TEXT_MAX = 255;

const NAME = /^[A-Za-z_]\w*$/;

/** Texts have no escapes: a text with both kinds of quotes cannot be written. */
function quote(text: string): string | null {
	// The condition is typed in a single line. Invalid UTF-8 arrives as U+FFFD, which matches nothing.
	if (text.length > TEXT_MAX || /[\0\n\r\ufffd]/.test(text)) return null;
	if (!text.includes('"')) return `"${text}"`;
	return text.includes("'") ? null : `'${text}'`;
}

function numberText(cell: string | number): string | null {
	// Large integers are strings, which keep all their digits (api/exact.ts).
	if (typeof cell === 'string') return /^-?\d+$/.test(cell) ? cell : null;
	return Number.isFinite(cell) && Math.abs(cell) <= Number.MAX_SAFE_INTEGER ? String(cell) : null;
}

/** Returns the condition for rows with this value: `ret == 5`. Returns null if there is none: for stacks, for
 * texts with both kinds of quotes, and for times, which are different in each row. */
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

/** Returns @text with everything in quotes replaced by blanks. */
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

/** Joins @where and @term by &&, unless @where has the term already. */
export function addTerm(where: string | null, term: string): string {
	const before = (where ?? '').trim();
	if (!before) return term;
	if (placesOf('||', before).length) return `(${before}) && ${term}`;
	return termsOf(before).includes(term) ? before : `${before} && ${term}`;
}

/** Returns the columns that a condition uses. */
export function namesIn(where: string | null): string[] {
	return unquoted(where ?? '').match(/\b[A-Za-z_]\w*/g) ?? [];
}

/** Splits a message of the server: a sentence, then the condition with a mark under the invalid character. */
export function splitMarked(message: string): { sentence: string; marked: string | null } {
	const cut = message.indexOf('\n');
	if (cut < 0) return { sentence: message, marked: null };
	return { sentence: message.slice(0, cut), marked: message.slice(cut + 1) };
}

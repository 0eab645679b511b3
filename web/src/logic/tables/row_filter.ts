/* A regular expression that the user types to see fewer rows. */

export interface RowFilter {
	/** Whether a row with these texts stays. */
	matches: (...texts: string[]) => boolean;
	/** @text in pieces: every second piece, from the second on, is a match. */
	pieces: (text: string) => string[];
	/** Why the expression is invalid, for people; all rows then stay. */
	problem: string | null;
}

const ALL: RowFilter = { matches: () => true, pieces: (text) => [text], problem: null };

/** Replaces the engine's own messages, which repeat the whole expression and say little. */
function explain(text: string): string {
	const count = (c: string) => text.replace(/\\./g, '').split(c).length - 1;
	if (/(^|[^\\])(\\\\)*\\$/.test(text)) return 'It ends with a \\. Write \\\\ for the sign itself.';
	if (count('[') > count(']')) return 'A [ is never closed. Write \\[ for the sign itself.';
	if (count('(') !== count(')')) return 'The ( and ) do not match. Write \\( for the sign itself.';
	if (/(^|[(|])[*+?]/.test(text))
		return '*, + and ? need something before them. Write \\* for the sign itself.';
	return 'This is not a regular expression. Write \\ before signs that are meant as they are.';
}

/** Ignores case, unless the expression contains a capital letter. */
export function rowFilter(text: string | null): RowFilter {
	if (!text) return ALL;
	const flags = /[A-Z]/.test(text.replace(/\\./g, '')) ? '' : 'i';
	let one: RegExp;
	try {
		one = new RegExp(text, flags);
	} catch {
		return { ...ALL, problem: explain(text) };
	}
	const every = new RegExp(text, flags + 'g');
	return {
		matches: (...texts) => texts.some((t) => one.test(t)),
		pieces: (t) => cut(t, every),
		problem: null,
	};
}

function cut(text: string, every: RegExp): string[] {
	const out: string[] = [];
	let at = 0;
	for (const found of text.matchAll(every)) {
		if (!found[0]) continue;
		out.push(text.slice(at, found.index), found[0]);
		at = found.index + found[0].length;
	}
	out.push(text.slice(at));
	return out;
}

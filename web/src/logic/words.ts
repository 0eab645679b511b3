/* Words of a command line as a shell splits them, and back. The server splits a workload by the
 * same rules (nothing is expanded), so what is shown as a command line is what is executed. */

/** Why a command cannot be split, or its words. */
type Split = { words: string[]; problem: null } | { words: null; problem: string };

const BLANK = /[ \t\n\r]/;

interface Reader {
	text: string;
	at: number;
	word: string;
}

/** Reads after an opening double quote; a backslash escapes only what is special there. */
function readDoubleQuoted(r: Reader): boolean {
	for (; r.at < r.text.length; r.at++) {
		const c = r.text[r.at]!;
		const next = r.text[r.at + 1] ?? '';
		if (c === '"') {
			r.at++;
			return true;
		}
		if (c === '\\' && next === '\n') r.at++;
		else if (c === '\\' && next !== '' && '$`"\\'.includes(next)) r.word += r.text[++r.at];
		else r.word += c;
	}
	return false;
}

function readSingleQuoted(r: Reader): boolean {
	const end = r.text.indexOf("'", r.at);
	if (end < 0) return false;
	r.word += r.text.slice(r.at, end);
	r.at = end + 1;
	return true;
}

/** Reads the word that begins here. Returns the problem, or null. */
function readWord(r: Reader): string | null {
	while (r.at < r.text.length && !BLANK.test(r.text[r.at]!)) {
		const c = r.text[r.at++]!;
		if (c === "'" && !readSingleQuoted(r)) return 'A single quote is not closed.';
		if (c === '"' && !readDoubleQuoted(r)) return 'A double quote is not closed.';
		if (c === "'" || c === '"') continue;
		if (c !== '\\') r.word += c;
		else if (r.at === r.text.length) return 'The command ends with a backslash.';
		else {
			const next = r.text[r.at++]!;
			if (next !== '\n') r.word += next;
		}
	}
	return null;
}

export function splitWords(text: string): Split {
	const words: string[] = [];
	const r: Reader = { text, at: 0, word: '' };
	for (;;) {
		while (r.at < text.length && (BLANK.test(text[r.at]!) || text.startsWith('\\\n', r.at)))
			r.at += text[r.at] === '\\' ? 2 : 1;
		if (r.at >= text.length) return { words, problem: null };
		r.word = '';
		const problem = readWord(r);
		if (problem) return { words: null, problem };
		words.push(r.word);
	}
}

/** A word as it has to be typed in a shell. */
export function quoteWord(word: string): string {
	if (/^[A-Za-z0-9_\-./=:,+@%^]+$/.test(word)) return word;
	return "'" + word.replaceAll("'", "'\\''") + "'";
}

export function joinWords(words: string[]): string {
	return words.map(quoteWord).join(' ');
}

/** What the command has outside of quotes that only a shell understands, such as "|"; or null. */
export function needsShell(text: string): string | null {
	const bare = text.replace(/'[^']*'|"(?:\\.|[^"\\])*"|\\./g, '');
	const found = /\|\||&&|>>|[|><;*?$`&]|^\s*\w+=\S/.exec(bare);
	if (!found) return /"[^"]*[$`][^"]*"/.test(text) ? '$' : null;
	return found[0].includes('=') ? '=' : found[0];
}

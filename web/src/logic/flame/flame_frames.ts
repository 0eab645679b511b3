/* A function as a filter of samples: the server takes a POSIX regular expression of limited length. */

const LONGEST = 250;

/** Matches the name alone; of very long names (of templates …) what fits, as a beginning. */
export function framesPattern(name: string): string {
	let pattern = '^';
	for (const character of name) {
		const escaped = /[\\^$.|?*+()[\]{}]/.test(character) ? '\\' + character : character;
		if (pattern.length + escaped.length > LONGEST) return pattern;
		pattern += escaped;
	}
	return pattern + '$';
}

/** The other way round, for people: what a pattern of ours means, or the pattern as it is. */
export function framesWords(pattern: string): string {
	const found = /^\^((?:[^\\^$.|?*+()[\]{}]|\\.)*)\$?$/s.exec(pattern);
	return found ? found[1]!.replace(/\\(.)/gs, '$1') : `/${pattern}/`;
}

/* A function as a filter of samples: the server takes a short POSIX regular expression. */

const LONGEST = 250;

/** Matches exactly @name; of very long names (templates …) only the beginning that fits. */
export function framesPattern(name: string): string {
	let pattern = '^';
	for (const character of name) {
		const escaped = /[\\^$.|?*+()[\]{}]/.test(character) ? '\\' + character : character;
		if (pattern.length + escaped.length > LONGEST) return pattern;
		pattern += escaped;
	}
	return pattern + '$';
}

/** The reverse, for people: the name behind framesPattern(), or any other pattern as it is. */
export function framesWords(pattern: string): string {
	const found = /^\^((?:[^\\^$.|?*+()[\]{}]|\\.)*)\$?$/s.exec(pattern);
	return found ? found[1]!.replace(/\\(.)/gs, '$1') : `/${pattern}/`;
}

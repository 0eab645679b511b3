/* Search in a few choices by what was typed. */

export interface Choice {
	id: string;
	/** Heading: Commands, Runs, Sessions. */
	group: string;
	text: string;
	/** Shown smaller, after the text. */
	more?: string;
	run: () => void;
}

/** How well @text matches the words of @query; 0 if any word is missing. */
export function fits(text: string, query: string): number {
	const words = query.toLowerCase().split(/\s+/).filter(Boolean);
	const where = text.toLowerCase();
	let score = 1;
	for (const word of words) {
		const at = where.indexOf(word);
		if (at < 0) return 0;
		// A match at the beginning of the text, or of a word, scores more than others.
		score += at === 0 ? 3 : /\W/.test(where[at - 1]!) ? 2 : 1;
	}
	return score;
}

export function filterChoices(choices: Choice[], query: string): Choice[] {
	return choices
		.map((choice) => ({ choice, score: fits(`${choice.text} ${choice.more ?? ''}`, query) }))
		.filter(({ score }) => score > 0)
		.sort((a, b) => b.score - a.score)
		.map(({ choice }) => choice);
}

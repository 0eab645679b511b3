/* Finding among a few things by what was typed. */

export interface Choice {
	id: string;
	/** Heading: Commands, Runs, Sessions. */
	group: string;
	text: string;
	/** Smaller, behind the text. */
	more?: string;
	run: () => void;
}

/** How well @text fits the words of @query: 0 not at all; every word must be in it. */
export function fits(text: string, query: string): number {
	const words = query.toLowerCase().split(/\s+/).filter(Boolean);
	const where = text.toLowerCase();
	let score = 1;
	for (const word of words) {
		const at = where.indexOf(word);
		if (at < 0) return 0;
		// At the beginning of all, or of a word, is better than somewhere within.
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

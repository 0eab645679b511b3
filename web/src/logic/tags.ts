/* Tags as one line of text. */

/** "a, b,, a" → a and b: each once, none empty, as many and as long as the server takes. */
export function parseTags(text: string): string[] {
	const words = text.split(',').map((word) => word.trim().slice(0, 100));
	return [...new Set(words.filter(Boolean))].slice(0, 32);
}

/* Name, note and tags of a run as they are typed; tags are one line of text. */
import type { Run } from '../../api/types';

/** "a, b,, a" → a and b: each once, none empty, as many and as long as the server takes. */
export function parseTags(text: string): string[] {
	const words = text.split(',').map((word) => word.trim().slice(0, 100));
	return [...new Set(words.filter(Boolean))].slice(0, 32);
}

type Words = Pick<Run, 'description' | 'note' | 'tags'>;

/** The typed fields that differ from @run. Only these are sent: the rest may have changed. */
export function changesOf(
	run: Words,
	typed: { name: string; note: string; tags: string },
): Partial<Words> {
	const changes: Partial<Words> = {};
	const description = typed.name.trim() || null;
	const note = typed.note.trim() || null;
	const tags = parseTags(typed.tags);
	if (description !== run.description) changes.description = description;
	if (note !== run.note) changes.note = note;
	if (tags.join('\n') !== run.tags.join('\n')) changes.tags = tags;
	return changes;
}

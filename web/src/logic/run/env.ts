/* Environment variables as text: FOO=bar, one per line, as in `.env` files and printed by `env`. */
import type { Variable } from './plan';
import { splitWords } from '../words';

/** Returns null if @text is not a list of variables. */
export function parseVariables(text: string): Variable[] | null {
	const out: Variable[] = [];
	for (const line of text.split('\n')) {
		const trimmed = line.trim();
		if (!trimmed || trimmed.startsWith('#')) continue;
		const found = /^(?:export\s+)?([A-Za-z_]\w*)=(.*)$/.exec(trimmed);
		if (!found) return null;
		// Quotes are for a shell: take what is in them.
		const quoted = /^(['"]).*\1$/.test(found[2]!) ? splitWords(found[2]!).words : null;
		out.push({ name: found[1]!, value: quoted?.length === 1 ? quoted[0]! : found[2]! });
	}
	return out.length ? out : null;
}

/** If both have a variable, that of @more counts. */
export function mergeVariables(before: Variable[], more: Variable[]): Variable[] {
	const names = new Set(more.map((v) => v.name));
	return [...before.filter((v) => (v.name || v.value) && !names.has(v.name)), ...more];
}

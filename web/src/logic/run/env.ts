/* Variables of an environment as text: FOO=bar, one in each line, as `env` prints and `.env` files have them. */
import type { Variable } from './plan';
import { splitWords } from '../words';

/** null: this is no list of variables. */
export function parseVariables(text: string): Variable[] | null {
	const out: Variable[] = [];
	for (const line of text.split('\n')) {
		const trimmed = line.trim();
		if (!trimmed || trimmed.startsWith('#')) continue;
		const found = /^(?:export\s+)?([A-Za-z_]\w*)=(.*)$/.exec(trimmed);
		if (!found) return null;
		// Quotes are for a shell; what is in them is meant.
		const quoted = /^(['"]).*\1$/.test(found[2]!) ? splitWords(found[2]!).words : null;
		out.push({ name: found[1]!, value: quoted?.length === 1 ? quoted[0]! : found[2]! });
	}
	return out.length ? out : null;
}

/** The later of two with the same name counts. */
export function mergeVariables(before: Variable[], more: Variable[]): Variable[] {
	const names = new Set(more.map((v) => v.name));
	return [...before.filter((v) => (v.name || v.value) && !names.has(v.name)), ...more];
}

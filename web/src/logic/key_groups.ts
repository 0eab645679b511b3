interface Entry {
	keys: string;
	what: string;
	where: string;
}

/** By where they apply: "Everywhere", then "Run", then the rest in order; without duplicates. */
export function groupShortcuts<T extends Entry>(all: T[]): [string, T[]][] {
	const groups = new Map<string, T[]>();
	for (const s of all) {
		const list = groups.get(s.where) ?? [];
		if (!list.some((x) => x.keys === s.keys && x.what === s.what)) list.push(s);
		groups.set(s.where, list);
	}
	const first = (where: string) => (where === 'Everywhere' ? 0 : where === 'Run' ? 1 : 2);
	return [...groups].sort(([a], [b]) => first(a) - first(b));
}

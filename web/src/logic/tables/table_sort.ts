/* The sort order of a table as text in the address, and sorting by it. */

export interface Sort {
	key: string;
	down: boolean;
}

/** "self.down" → the order, if the table has such a column; otherwise @usual. */
export function parseSort(text: string | null, keys: readonly string[], usual: Sort): Sort {
	const found = /^(\w+)\.(up|down)$/.exec(text ?? '');
	if (!found || !keys.includes(found[1]!)) return usual;
	return { key: found[1]!, down: found[2] === 'down' };
}

export function formatSort(sort: Sort): string {
	return sort.key + (sort.down ? '.down' : '.up');
}

/** The value that rows are compared by; null comes last in either direction. */
export type SortValue = string | number | bigint | null;

/** Returns a sorted copy. Equal rows keep their order, so that live data do not jump. */
export function sortRows<T>(
	rows: readonly T[],
	down: boolean,
	valueOf: (row: T) => SortValue,
): T[] {
	const sign = down ? -1 : 1;
	return rows
		.map((row) => ({ row, value: valueOf(row) }))
		.sort((x, y) => {
			const [a, b] = [x.value, y.value];
			if (a === b) return 0;
			if (a === null) return 1;
			if (b === null) return -1;
			return a < b ? -sign : sign;
		})
		.map((x) => x.row);
}

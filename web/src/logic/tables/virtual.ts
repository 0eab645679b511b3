/* Which rows of a long list are on the screen. All rows are equally high. */

export interface Rows {
	/** How many there are. */
	count: number;
	/** Height of one row, in pixels. */
	height: number;
}

export interface Scroll {
	top: number;
	/** Height of the visible part, without a sticky header. */
	height: number;
}

/** Rows drawn above and below the screen, ready for scrolling. */
const MARGIN = 6;

/** The rows to draw; `last` is exclusive. */
export function rowsOnScreen(rows: Rows, scroll: Scroll): { first: number; last: number } {
	const last = Math.ceil((scroll.top + scroll.height) / rows.height) + MARGIN;
	const first = Math.floor(scroll.top / rows.height) - MARGIN;
	return {
		first: Math.max(0, Math.min(first, rows.count)),
		last: Math.max(0, Math.min(last, rows.count)),
	};
}

/** Where to scroll so that all of row @index is visible; unchanged if it is. */
export function scrollToShow(index: number, rows: Rows, scroll: Scroll): number {
	const top = index * rows.height;
	if (top < scroll.top) return top;
	return Math.max(scroll.top, top + rows.height - scroll.height);
}

/** The row that a key leads to from row @from (-1: none yet); null if lists do not use the key. */
export function rowOfKey(key: string, from: number, rows: Rows, scroll: Scroll): number | null {
	const page = Math.max(1, Math.floor(scroll.height / rows.height) - 1);
	const steps: Record<string, number> = {
		ArrowDown: from + 1,
		ArrowUp: from < 0 ? rows.count - 1 : from - 1,
		PageDown: from + page,
		PageUp: from - page,
		Home: 0,
		End: rows.count - 1,
	};
	const to = steps[key];
	if (to === undefined || !rows.count) return null;
	return Math.max(0, Math.min(to, rows.count - 1));
}

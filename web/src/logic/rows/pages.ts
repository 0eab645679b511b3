/* Decides which pages of a long table are needed and which may be dropped. A page has PAGE_ROWS rows. */

export const PAGE_ROWS = 200;
/** Limit of the cached pages: a few thousand rows around the visible ones. */
export const PAGES_MAX = 24;

/** Returns the pages with the rows @first to @last (exclusive). */
export function pagesOf(first: number, last: number): number[] {
	const from = Math.floor(Math.max(0, first) / PAGE_ROWS);
	const to = Math.ceil(Math.max(0, last) / PAGE_ROWS);
	return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}

/** Returns the visible pages, then the next page in each direction if it exists. */
export function pagesWanted(first: number, last: number, matched: number): number[] {
	const seen = pagesOf(first, Math.min(last, matched));
	const end = Math.ceil(matched / PAGE_ROWS);
	const [low, high] = [seen[0], seen[seen.length - 1]];
	if (low === undefined || high === undefined) return [0];
	return [...seen, high + 1, low - 1].filter((page) => page >= 0 && page < end);
}

/** Returns the pages to drop so that @max are left: those farthest from @around. */
export function pagesToDrop(kept: Iterable<number>, around: number, max = PAGES_MAX): number[] {
	return [...kept].sort((a, b) => Math.abs(a - around) - Math.abs(b - around)).slice(max);
}

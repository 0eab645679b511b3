/* Scrolling through more rows than fit into an element. Browsers limit the height of an element (Firefox: 17.9
 * million pixels), so the element may be lower than the sum of its rows. Near both ends positions are equal;
 * between them, dragging the scroll bar moves the rows in proportion. Small steps (wheel, keys, touch) are always
 * exact: they keep `offset`, the difference between the position in the rows and that of the element. */

export const STRIP_MAX = 8_000_000;

export interface Strip {
	/** Height of all rows. */
	rows: number;
	/** Height of the visible part. */
	view: number;
}

export interface Place {
	/** scrollTop of the element. */
	scroll: number;
	/** Position in the rows minus scrollTop. */
	offset: number;
}

/** Height of the element that scrolls. */
export function stripHeight(rows: number): number {
	return Math.min(rows, STRIP_MAX);
}

/** Height at each end that is not scaled. */
const EDGE = STRIP_MAX / 4;
/** Maximum deviation from the proportional position: more would be visible at the scroll bar. */
const DRIFT_MAX = STRIP_MAX / 100;

/** Maps @x from [0, from] to [0, to], without scaling within EDGE of both ends. */
function scaled(x: number, from: number, to: number): number {
	if (from === to || x <= EDGE) return x;
	if (x >= from - EDGE) return to - (from - x);
	return EDGE + ((x - EDGE) * (to - 2 * EDGE)) / (from - 2 * EDGE);
}

/** The position in the rows for the scroll position @scroll. */
export function rowsTopOf(scroll: number, s: Strip): number {
	return scaled(scroll, stripHeight(s.rows) - s.view, s.rows - s.view);
}

/** The scroll position for a position in the rows. */
export function scrollOf(top: number, s: Strip): number {
	return scaled(top, s.rows - s.view, stripHeight(s.rows) - s.view);
}

/** The state after the element was scrolled to @scroll. If `scroll` of the result differs, the caller must
 * scroll the element there; the visible rows stay the same. */
export function placeAfter(before: Place, scroll: number, s: Strip): Place {
	if (s.rows <= STRIP_MAX) return { scroll, offset: 0 };
	if (Math.abs(scroll - before.scroll) > 2 * s.view)
		return { scroll, offset: rowsTopOf(scroll, s) - scroll };
	return placeAt(scroll + before.offset, scroll, s);
}

/** The state that shows the rows at @top; keeps a scroll position near @scroll if that deviates little enough. */
export function placeAt(top: number, scroll: number, s: Strip): Place {
	const inside = Math.max(0, Math.min(top, s.rows - s.view));
	const ideal = Math.round(scrollOf(inside, s));
	const nearEnd = inside <= EDGE || inside >= s.rows - s.view - EDGE;
	const drift = Math.abs(ideal - scroll);
	const at = drift > (nearEnd ? 0 : DRIFT_MAX) ? ideal : scroll;
	return { scroll: at, offset: inside - at };
}

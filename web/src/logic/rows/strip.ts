/* Scrolling through more rows than an element can be high. Browsers limit the height of an element
 * (Firefox: 17.9 million pixels), so the element is lower than its rows would be. Near both ends a pixel
 * is a pixel; between them a scroll bar that is dragged jumps in proportion. Small steps (wheel, keys,
 * touch) are always exact: `offset`, the difference between the place in the rows and the element's, then stays. */

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
	/** Place in the rows less scrollTop. */
	offset: number;
}

/** Height of the element that scrolls. */
export function stripHeight(rows: number): number {
	return Math.min(rows, STRIP_MAX);
}

/** At each end, this much of the rows is not scaled. */
const EDGE = STRIP_MAX / 4;
/** A larger difference from the proportional place would be visible at the scroll bar. */
const DRIFT_MAX = STRIP_MAX / 100;

/** Maps @x from [0, from] to [0, to]: equal up to EDGE, and from EDGE before the end. */
function scaled(x: number, from: number, to: number): number {
	if (from === to || x <= EDGE) return x;
	if (x >= from - EDGE) return to - (from - x);
	return EDGE + ((x - EDGE) * (to - 2 * EDGE)) / (from - 2 * EDGE);
}

/** The place in the rows of a scroll bar at @scroll. */
export function rowsTopOf(scroll: number, s: Strip): number {
	return scaled(scroll, stripHeight(s.rows) - s.view, s.rows - s.view);
}

/** Where the scroll bar is at a place in the rows. */
export function scrollOf(top: number, s: Strip): number {
	return scaled(top, s.rows - s.view, stripHeight(s.rows) - s.view);
}

/** The place after the element was scrolled to @scroll. If the result has another `scroll`, the element has to
 * be scrolled there; what is seen stays the same. */
export function placeAfter(before: Place, scroll: number, s: Strip): Place {
	if (s.rows <= STRIP_MAX) return { scroll, offset: 0 };
	if (Math.abs(scroll - before.scroll) > 2 * s.view)
		return { scroll, offset: rowsTopOf(scroll, s) - scroll };
	return placeAt(scroll + before.offset, scroll, s);
}

/** The place for showing @top; near @scroll, if that is still about right. */
export function placeAt(top: number, scroll: number, s: Strip): Place {
	const inside = Math.max(0, Math.min(top, s.rows - s.view));
	const ideal = Math.round(scrollOf(inside, s));
	const nearEnd = inside <= EDGE || inside >= s.rows - s.view - EDGE;
	const drift = Math.abs(ideal - scroll);
	const at = drift > (nearEnd ? 0 : DRIFT_MAX) ? ideal : scroll;
	return { scroll: at, offset: inside - at };
}

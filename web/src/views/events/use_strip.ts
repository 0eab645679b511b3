/* Virtual scrolling for tables that may be longer than the maximum height of an element (logic/rows/strip.ts). */
import type { RefObject } from 'preact';
import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { placeAfter, placeAt, stripHeight, type Place, type Strip } from '../../logic/rows/strip';
import { rowsOnScreen, scrollToShow } from '../../logic/tables/virtual';

export interface StripView {
	ref: RefObject<HTMLDivElement>;
	/** Height of the element that contains the rows. */
	height: number;
	/** The rows to draw; `last` is exclusive. */
	first: number;
	last: number;
	/** Returns the offset of a row in the element. */
	topOf: (index: number) => number;
	onScroll: () => void;
	/** Scrolls a row into view. */
	show: (index: number) => void;
	toTop: () => void;
	/** Scroll position within the rows, and visible height. */
	scroll: () => { top: number; height: number };
}

export function useStrip(count: number, rowHeight: number, headHeight: number): StripView {
	const ref = useRef<HTMLDivElement>(null);
	const place = useRef<Place>({ scroll: 0, offset: 0 });
	const [seen, setSeen] = useState({ top: 0, height: 600, offset: 0 });
	const rows = { count, height: rowHeight };
	const strip = (): Strip => ({
		rows: count * rowHeight,
		view: Math.max(1, (ref.current?.clientHeight ?? 600) - headHeight),
	});
	const take = (next: Place) => {
		const element = ref.current!;
		place.current = next;
		if (element.scrollTop !== next.scroll) element.scrollTop = next.scroll;
		const now = { top: next.scroll + next.offset, height: strip().view, offset: next.offset };
		// Scrolling by less than a row does not change which rows are drawn.
		now.top -= now.top % rowHeight;
		setSeen((old) =>
			old.top === now.top && old.height === now.height && old.offset === now.offset ? old : now,
		);
	};
	const onScroll = () => take(placeAfter(place.current, ref.current!.scrollTop, strip()));
	const latest = useRef(onScroll);
	latest.current = onScroll;
	const resized = useCallback(() => latest.current(), []);
	useLayoutEffect(() => {
		const observer = new ResizeObserver(resized);
		observer.observe(ref.current!);
		return () => observer.disconnect();
	}, []);
	useLayoutEffect(() => {
		// Keep the visible rows in place when rows are added or removed.
		const { scroll, offset } = place.current;
		take(placeAt(scroll + offset, ref.current!.scrollTop, strip()));
	}, [count, rowHeight]);
	const scroll = () => ({
		top: (ref.current?.scrollTop ?? 0) + place.current.offset,
		height: strip().view,
	});
	return {
		ref,
		height: stripHeight(count * rowHeight),
		...rowsOnScreen(rows, { top: seen.top, height: seen.height + rowHeight }),
		topOf: (index) => index * rowHeight - seen.offset,
		onScroll,
		show: (index) => {
			const top = scrollToShow(index, rows, scroll());
			take(placeAt(top, place.current.scroll, strip()));
		},
		toTop: () => take({ scroll: 0, offset: 0 }),
		scroll,
	};
}

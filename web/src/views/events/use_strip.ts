/* The rows on the screen of a table that may be longer than an element can be high (logic/rows/strip.ts). */
import type { RefObject } from 'preact';
import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { placeAfter, placeAt, stripHeight, type Place, type Strip } from '../../logic/rows/strip';
import { rowsOnScreen, scrollToShow } from '../../logic/tables/virtual';

export interface StripView {
	ref: RefObject<HTMLDivElement>;
	/** Height of the element with the rows. */
	height: number;
	/** The rows to draw; `last` is exclusive. */
	first: number;
	last: number;
	/** Where the row is in the element. */
	topOf: (index: number) => number;
	onScroll: () => void;
	/** Scrolls so that the row is visible. */
	show: (index: number) => void;
	toTop: () => void;
	/** Place in the rows, and height of what is visible of them. */
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
		// Only scrolling by a whole row changes what is drawn.
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
		// Rows that are added or removed leave the rows on the screen where they are.
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

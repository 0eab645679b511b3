/* Lines of output, of which only the visible ones are in the page. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { styles, type OutputLines } from '../../logic/ansi';
import { shownColours, type Rgb } from '../../logic/ansi_colours';
import { RowIndex, segments, type Hit } from '../../logic/tables/output_rows';
import { px } from '../../state/scale';
import { dark } from '../../state/theme';

const ROW_HEIGHT = 19;
/** About the limit of browsers; beyond it, a step of the scroll bar is more than a row. */
const HEIGHT_MAX = 8_000_000;
const MARGIN_ROWS = 12;

function token(name: string): Rgb {
	const text = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	const n = parseInt(text.slice(1), 16);
	return [n >> 16, (n >> 8) & 255, n & 255];
}

/** CSS of a style in the current theme, made when first needed. */
function useStyles(): (number: number) => { [name: string]: string } {
	const isDark = dark.value;
	return useMemo(() => {
		const [ink, paper] = [token('--ink'), token('--surface')];
		const made = new Map<number, { [name: string]: string }>();
		return (number) => {
			const known = made.get(number);
			if (known) return known;
			const style = styles[number]!;
			const css: { [name: string]: string } = { ...shownColours(style, ink, paper) };
			if (style.bold) css.fontWeight = '700';
			if (style.italic) css.fontStyle = 'italic';
			const lines = [style.underline && 'underline', style.strike && 'line-through'];
			if (lines.some(Boolean)) css.textDecoration = lines.filter(Boolean).join(' ');
			made.set(number, css);
			return css;
		};
	}, [isDark]);
}

/** How many characters fit into a row. */
function useColumns(box: RefObject<HTMLDivElement>, gutter: number): number {
	const [columns, setColumns] = useState(80);
	useLayoutEffect(() => {
		const element = box.current!;
		const probe = document.createElement('span');
		probe.className = 'probe';
		probe.textContent = '0'.repeat(100);
		element.append(probe);
		const measure = () => {
			const wide = probe.getBoundingClientRect().width / 100;
			const room = element.clientWidth - gutter * wide - 24;
			if (wide) setColumns(Math.max(20, Math.floor(room / wide)));
		};
		const observer = new ResizeObserver(measure);
		observer.observe(element);
		measure();
		return () => {
			observer.disconnect();
			probe.remove();
		};
	}, [gutter]);
	return columns;
}

function Row(props: {
	lines: OutputLines;
	place: { line: number; from: number; to: number };
	top: number;
	marked: boolean;
	gutter: number;
	styled: (number: number) => { [name: string]: string };
	hits: Hit[];
	length: number;
	current: Hit | null;
}) {
	const { lines, place, current } = props;
	const line = lines.lines[place.line]!;
	const starts = props.hits.map((hit) => hit.start);
	const here = current?.line === place.line ? current.start : null;
	const first = place.from === 0 && !line.continued;
	return (
		<div
			class={props.marked && line.stream === 2 ? 'row err' : 'row'}
			style={{ top: props.top + 'px' }}
		>
			<span class="gutter" style={{ width: props.gutter + 'ch' }}>
				{props.marked && line.stream === 2 && first && <span class="stream">err</span>}
				<span aria-hidden="true">{first ? place.line + lines.dropped + 1 : ''}</span>
			</span>
			<span class="text">
				{segments(line, place.from, place.to, starts, props.length, here).map((s, i) =>
					s.hit === 'no' ? (
						<span key={i} style={s.style ? props.styled(s.style) : undefined}>
							{s.text}
						</span>
					) : (
						<mark key={i} class={s.hit}>
							{s.text}
						</mark>
					),
				)}
			</span>
		</div>
	);
}

/** The hits of one line; @hits are sorted by line. */
function hitsOf(hits: Hit[], line: number): Hit[] {
	let [low, high] = [0, hits.length];
	while (low < high) {
		const middle = (low + high) >> 1;
		if (hits[middle]!.line < line) low = middle + 1;
		else high = middle;
	}
	const out = [];
	for (let i = low; i < hits.length && hits[i]!.line === line; i++) out.push(hits[i]!);
	return out;
}

/** The visible ones of @rows rows, and where each is. With @follow, scrolls to the newest. */
function useRowsInSight(
	box: RefObject<HTMLDivElement>,
	rows: number,
	follow: boolean,
	setFollow: (follow: boolean) => void,
) {
	const [view, setView] = useState({ top: 0, height: 400 });
	const rowHeight = px(ROW_HEIGHT);
	const height = Math.min(HEIGHT_MAX, rows * rowHeight);
	const visible = Math.ceil(view.height / rowHeight);
	// With a coarse scroll bar, its position is a fraction of all rows.
	const coarse = height < rows * rowHeight;
	const scale = coarse ? (rows - visible) / (height - view.height) : 1 / rowHeight;
	const look = () => {
		const { scrollTop: top, clientHeight } = box.current!;
		if (top !== view.top || clientHeight !== view.height) setView({ top, height: clientHeight });
	};
	const scrolled = () => {
		const { scrollTop, clientHeight, scrollHeight } = box.current!;
		// More lines may have come since the event: only scrolling up stops following.
		if (scrollTop + clientHeight >= scrollHeight - 4) setFollow(true);
		else if (scrollTop < view.top) setFollow(false);
		look();
	};
	useLayoutEffect(() => {
		if (follow) box.current!.scrollTop = box.current!.scrollHeight;
		look();
	});
	return {
		scrolled,
		height,
		visible,
		scale,
		firstRow: Math.max(0, Math.min(rows - visible, Math.floor(view.top * scale))),
		topOf: (row: number) =>
			coarse ? view.top + (row - view.top * scale) * rowHeight : row * rowHeight,
	};
}

export function Lines(props: {
	lines: OutputLines;
	/** Marks lines of standard error. */
	marked: boolean;
	wrap: boolean;
	follow: boolean;
	setFollow: (follow: boolean) => void;
	hits: Hit[];
	length: number;
	current: Hit | null;
}) {
	const { lines, wrap, current } = props;
	const box = useRef<HTMLDivElement>(null);
	const styled = useStyles();
	const gutter = String(lines.lines.length + lines.dropped).length + (props.marked ? 4 : 1);
	const columns = useColumns(box, gutter);
	const index = useMemo(() => new RowIndex(wrap ? columns : null), [lines, wrap, columns]);
	index.update(lines.lines, lines.dropped);
	const inSight = useRowsInSight(box, index.rows, props.follow, props.setFollow);
	const { height, firstRow, visible, scale, topOf } = inSight;
	const from = Math.max(0, firstRow - MARGIN_ROWS);
	const to = Math.min(index.rows, firstRow + visible + MARGIN_ROWS);

	useEffect(() => {
		if (!current) return;
		const row = index.rowOf(current.line, current.start);
		if (row > firstRow && row < firstRow + visible - 2) return;
		box.current!.scrollTop = Math.max(0, (row - visible / 3) / scale);
	}, [current]);

	const rows = [];
	for (let row = from; row < to; row++) {
		const place = index.at(row);
		const hits = hitsOf(props.hits, place.line);
		rows.push(
			<Row
				key={row}
				{...{ lines, place, gutter, styled, hits, current }}
				top={topOf(row)}
				marked={props.marked}
				length={props.length}
			/>,
		);
	}
	return (
		<div
			class={wrap ? 'lines' : 'lines wide'}
			ref={box}
			onScroll={inSight.scrolled}
			tabIndex={0}
			role="region"
			aria-label="What the program printed"
		>
			<div class="all" style={{ height: height + 'px' }}>
				{rows}
			</div>
		</div>
	);
}

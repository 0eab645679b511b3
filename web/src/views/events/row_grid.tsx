/* The rows of a table as a virtual grid: only rows on the screen are in the DOM. The focus stays on the grid;
 * arrow keys move a mark from cell to cell, Enter or a click filters by the value of a cell. */
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { TableCell, TableColumn } from '../../api/types';
import { termOf } from '../../logic/rows/condition';
import { cellText, cellTitle, columnWidth, isNumeric } from '../../logic/rows/row_columns';
import type { Sort } from '../../logic/tables/table_sort';
import { rowOfKey } from '../../logic/tables/virtual';
import { pxToRem } from '../../logic/rem';
import { rowAt, type RowsAnswer } from '../../state/row_pages';
import { px } from '../../state/scale';
import { HEAD_HEIGHT, HeadCell } from '../parts/virtual';
import { useStrip, type StripView } from './use_strip';

const ROW_HEIGHT = 28;

/** A visible column and its index in the rows. */
interface Shown {
	column: TableColumn;
	at: number;
	width: number;
}

interface Mark {
	row: number;
	column: number;
}

interface RowGridProps {
	answer: RowsAnswer;
	/** Names of the visible columns. */
	names: readonly string[];
	label: string;
	sort: Sort;
	onSort: (sort: Sort) => void;
	/** Called with the range of rows needed: from, to (exclusive). */
	onRows: (first: number, last: number) => void;
	/** Called with a condition that selects the rows with a value. */
	onTerm: (term: string) => void;
}

/** Column widths are computed from the first page, so that they do not change while scrolling. */
function useShown(answer: RowsAnswer, names: readonly string[]): Shown[] {
	const widths = useRef(new Map<string, number>());
	const table = useRef(answer.of?.path);
	if (table.current !== answer.of?.path) widths.current = new Map();
	table.current = answer.of?.path;
	const sample = (answer.pages.get(0) ?? []).slice(0, 100);
	return answer.columns.flatMap((column, at) => {
		if (!names.includes(column.name)) return [];
		const before = widths.current.get(column.name) ?? 0;
		const width = Math.max(before, columnWidth(column, at, sample));
		widths.current.set(column.name, width);
		return [{ column, at, width }];
	});
}

/** The order after the first click: numbers descend, as mostly the largest are wanted. Threads are not sortable. */
function firstOrder(c: TableColumn): 'up' | 'down' | undefined {
	if (c.type === 'thread') return undefined;
	return isNumeric(c) && c.type !== 'time' ? 'down' : 'up';
}

function tracksOf(shown: readonly Shown[]): string {
	// Columns are not stretched: numbers far from their neighbours are hard to read.
	return pxToRem(shown.map(({ width }) => `${width}px`).join(' ') + ' minmax(0, 1fr)');
}

/** The cell that is marked, and the keys and clicks that move the mark or filter by its value. */
function useMark(props: RowGridProps, shown: Shown[], strip: StripView, rowHeight: number) {
	const count = props.answer.matched;
	const [mark, setMark] = useState<Mark>({ row: -1, column: 0 });
	useEffect(() => setMark({ row: -1, column: 0 }), [props.answer.key]);
	const now = {
		row: Math.min(mark.row, count - 1),
		column: Math.min(mark.column, shown.length - 1),
	};
	const filter = (at: Mark) => {
		const term = termAt(props, shown, at);
		if (term) props.onTerm(term);
	};
	const onKeyDown = (e: KeyboardEvent) => {
		if (e.target !== e.currentTarget || e.altKey || e.ctrlKey || e.metaKey) return;
		const next = markOfKey(e.key, now, { count, height: rowHeight }, strip.scroll(), shown.length);
		if (!next && e.key !== 'Enter') return;
		e.preventDefault();
		if (!next) return filter(now);
		setMark(next);
		strip.show(next.row);
		showColumn(strip.ref.current!, shown, next.column);
	};
	const onClick = (e: MouseEvent) => {
		const cell = (e.target as Element).closest<HTMLElement>('[data-row]');
		// Selecting text to copy it does not count as a click.
		if (!cell || getSelection()?.toString()) return;
		const at = { row: Number(cell.dataset.row), column: Number(cell.dataset.column) };
		setMark(at);
		filter(at);
	};
	return { now, onKeyDown, onClick };
}

export function RowGrid(props: RowGridProps) {
	const { answer } = props;
	const shown = useShown(answer, props.names);
	const rowHeight = px(ROW_HEIGHT);
	const id = useId();
	const strip = useStrip(answer.matched, rowHeight, px(HEAD_HEIGHT));
	useEffect(strip.toTop, [answer.key]);
	useEffect(() => props.onRows(strip.first, strip.last), [answer.key, strip.first, strip.last]);
	const { now, onKeyDown, onClick } = useMark(props, shown, strip, rowHeight);
	const isDrawn = now.row >= strip.first && now.row < strip.last;
	const minWidth = px(shown.reduce((sum, s) => sum + s.width, 0));
	const tracks = tracksOf(shown);
	const indexes = Array.from(
		{ length: Math.max(0, strip.last - strip.first) },
		(_, i) => strip.first + i,
	);
	return (
		<div
			ref={strip.ref}
			class="virtual table event-rows"
			role="grid"
			tabIndex={0}
			aria-label={props.label}
			aria-rowcount={answer.matched + 1}
			aria-colcount={shown.length}
			aria-busy={answer.loading}
			aria-description="Arrows move between cells. Enter shows only the rows with the value of the cell."
			aria-activedescendant={isDrawn ? `${id}-${now.row}-${now.column}` : undefined}
			onScroll={strip.onScroll}
			onKeyDown={onKeyDown}
			onClick={onClick}
		>
			<Head {...{ props, shown, tracks, minWidth }} />
			<div role="rowgroup" class="virtual-rows" style={{ height: strip.height, minWidth }}>
				{indexes.map((i) => (
					<div
						key={i}
						role="row"
						aria-rowindex={i + 2}
						class="virtual-row"
						style={{ top: strip.topOf(i), height: rowHeight, gridTemplateColumns: tracks }}
					>
						<Cells {...{ props, shown, id }} row={i} marked={i === now.row ? now.column : -1} />
					</div>
				))}
			</div>
		</div>
	);
}

function Head(p: { props: RowGridProps; shown: Shown[]; tracks: string; minWidth: number }) {
	const { sort, onSort } = p.props;
	return (
		<div role="rowgroup" class="virtual-head" style={{ minWidth: p.minWidth }}>
			<div role="row" aria-rowindex={1} style={{ gridTemplateColumns: p.tracks }}>
				{p.shown.map(({ column: c }) => (
					<HeadCell
						key={c.name}
						column={{
							key: c.name,
							title: c.name,
							hint: c.meaning || undefined,
							width: '',
							number: isNumeric(c),
							sort: firstOrder(c),
						}}
						sort={sort}
						onSort={onSort}
					/>
				))}
			</div>
		</div>
	);
}

/** The cells of a row, or a placeholder while it is loading. */
function Cells(p: {
	props: RowGridProps;
	shown: Shown[];
	id: string;
	row: number;
	marked: number;
}) {
	const { answer } = p.props;
	const values = rowAt(answer, p.row);
	return (
		<>
			{p.shown.map(({ column, at }, k) => (
				<Cell
					key={column.name}
					id={`${p.id}-${p.row}-${k}`}
					row={p.row}
					place={k}
					column={column}
					cell={values?.[at]}
					waits={!values}
					filters={termOf(column, values?.[at], answer.columns) !== null}
					marked={k === p.marked}
				/>
			))}
		</>
	);
}

function Cell(props: {
	id: string;
	row: number;
	place: number;
	column: TableColumn;
	cell: TableCell | undefined;
	waits: boolean;
	filters: boolean;
	marked: boolean;
}) {
	const { column, cell, filters } = props;
	const title = cellTitle(column, cell);
	const classes = [
		'cell',
		isNumeric(column) ? 'number' : '',
		filters ? 'filters-rows' : '',
		props.marked ? 'marked' : '',
	];
	return (
		<div
			id={props.id}
			role="gridcell"
			aria-colindex={props.place + 1}
			class={classes.filter(Boolean).join(' ')}
			data-row={props.row}
			data-column={props.place}
			title={filters ? `${title} – click to see only rows with this value` : title}
		>
			{props.waits ? <span class="dim">…</span> : cellText(column, cell)}
		</div>
	);
}

function termAt(props: RowGridProps, shown: readonly Shown[], at: Mark): string | null {
	const found = shown[at.column];
	const row = rowAt(props.answer, at.row);
	return found && row ? termOf(found.column, row[found.at], props.answer.columns) : null;
}

/** The cell that a key moves to; null for keys without a meaning in grids. */
function markOfKey(
	key: string,
	now: Mark,
	rows: { count: number; height: number },
	scroll: { top: number; height: number },
	columns: number,
): Mark | null {
	if (!rows.count) return null;
	const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
	if (step) {
		const column = Math.max(0, Math.min(columns - 1, now.column + (now.row < 0 ? 0 : step)));
		return { row: Math.max(0, now.row), column };
	}
	const row = rowOfKey(key, now.row, rows, scroll);
	return row === null ? null : { ...now, row };
}

/** Scrolls sideways so that a column is visible. */
function showColumn(grid: HTMLElement, shown: readonly Shown[], column: number): void {
	const left = px(shown.slice(0, column).reduce((sum, s) => sum + s.width, 0));
	const right = left + px(shown[column]?.width ?? 0);
	if (left < grid.scrollLeft) grid.scrollLeft = left;
	else if (right > grid.scrollLeft + grid.clientWidth) grid.scrollLeft = right - grid.clientWidth;
}

/* Long lists and tables of which only the visible rows exist. The focus stays on the list; arrows
 * move a mark in it, Enter opens the marked row.
 *
 * VirtualTable is a grid with a sticky header and sortable columns; VirtualList is a listbox. */
import type { ComponentChildren, RefObject } from 'preact';
import { useCallback, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Sort } from '../../logic/tables/table_sort';
import { rowOfKey, rowsOnScreen, scrollToShow, type Scroll } from '../../logic/tables/virtual';
import './virtual.css';
import { px } from '../../state/scale';
import { pxToRem } from '../../logic/rem';

interface Virtual {
	ref: RefObject<HTMLDivElement>;
	first: number;
	last: number;
	onScroll: () => void;
	show: (index: number) => void;
	scroll: () => Scroll;
}

/** @headHeight: height of a sticky header, which covers part of the list. */
function useVirtual(count: number, rowHeight: number, headHeight: number): Virtual {
	const ref = useRef<HTMLDivElement>(null);
	const rows = { count, height: rowHeight };
	const [seen, setSeen] = useState<Scroll>({ top: 0, height: 600 });
	const scroll = useCallback((): Scroll => {
		const e = ref.current;
		return e ? { top: e.scrollTop, height: e.clientHeight - headHeight } : seen;
	}, [headHeight]);
	const onScroll = useCallback(() => {
		const now = scroll();
		// Only scrolling by a whole row changes what is drawn.
		now.top -= now.top % rowHeight;
		setSeen((old) => (old.top === now.top && old.height === now.height ? old : now));
	}, [rowHeight, scroll]);
	useLayoutEffect(() => {
		const observer = new ResizeObserver(onScroll);
		observer.observe(ref.current!);
		onScroll();
		return () => observer.disconnect();
	}, [onScroll]);
	useLayoutEffect(onScroll, [count]);
	const show = (index: number) => {
		if (ref.current) ref.current.scrollTop = scrollToShow(index, rows, scroll());
	};
	return {
		ref,
		...rowsOnScreen(rows, { ...seen, height: seen.height + rowHeight }),
		onScroll,
		show,
		scroll,
	};
}

/** Moves the mark by keys. Returns false if it does not handle the key. */
function moveByKey(
	e: KeyboardEvent,
	virtual: Virtual,
	rows: { count: number; height: number },
	active: number,
	move: (index: number) => void,
): boolean {
	if (e.target !== e.currentTarget || e.altKey || e.ctrlKey || e.metaKey) return false;
	const to = rowOfKey(e.key, active, rows, virtual.scroll());
	if (to === null) return false;
	e.preventDefault();
	move(to);
	virtual.show(to);
	return true;
}

interface VirtualListProps {
	count: number;
	label: string;
	/** Height of one row. */
	rowHeight: number;
	item: (index: number, active: boolean) => ComponentChildren;
	/** Click, Enter or Space on a row. */
	onPick: (index: number, e: MouseEvent | KeyboardEvent) => void;
	/** If given, several rows can be chosen; tells which are. */
	chosen?: (index: number) => boolean;
	/** Keeps a row's element when the rows around it change. */
	keyOf?: (index: number) => string | number;
	class?: string;
}

export function VirtualList(props: VirtualListProps) {
	const { count } = props;
	const rowHeight = px(props.rowHeight);
	const id = useId();
	const [active, setActive] = useState(-1);
	const virtual = useVirtual(count, rowHeight, 0);
	const now = Math.min(active, count - 1);
	const onKeyDown = (e: KeyboardEvent) => {
		if (moveByKey(e, virtual, { count, height: rowHeight }, now, setActive)) return;
		if (e.target !== e.currentTarget || now < 0 || (e.key !== 'Enter' && e.key !== ' ')) return;
		e.preventDefault();
		props.onPick(now, e);
	};
	const items = [];
	for (let i = virtual.first; i < virtual.last; i++)
		items.push(
			<div
				key={props.keyOf ? props.keyOf(i) : i}
				id={`${id}-${i}`}
				role="option"
				class={i === now ? 'virtual-row active' : 'virtual-row'}
				aria-selected={props.chosen ? props.chosen(i) : i === now}
				aria-posinset={i + 1}
				aria-setsize={count}
				style={{ top: i * rowHeight, height: rowHeight }}
				onClick={(e) => {
					setActive(i);
					props.onPick(i, e);
				}}
			>
				{props.item(i, i === now)}
			</div>,
		);
	return (
		<div
			ref={virtual.ref}
			class={'virtual ' + (props.class ?? '')}
			role="listbox"
			tabIndex={0}
			aria-label={props.label}
			aria-multiselectable={props.chosen ? true : undefined}
			aria-activedescendant={isDrawn(virtual, now) ? `${id}-${now}` : undefined}
			onScroll={virtual.onScroll}
			onKeyDown={onKeyDown}
		>
			<div role="presentation" class="virtual-rows" style={{ height: count * rowHeight }}>
				{items}
			</div>
		</div>
	);
}

function isDrawn(virtual: Virtual, index: number): boolean {
	return index >= virtual.first && index < virtual.last;
}

export interface TableColumn<T> {
	key: string;
	title: string;
	/** What the column means, on hover. */
	hint?: string;
	/** As in CSS grid-template-columns. */
	width: string;
	number?: boolean;
	/** Order after the first click ('down': largest first); without it, not sortable. */
	sort?: 'down' | 'up';
	cell: (row: T, index: number) => ComponentChildren;
}

interface VirtualTableProps<T> {
	rows: readonly T[];
	columns: readonly TableColumn<T>[];
	label: string;
	keyOf: (row: T, index: number) => string | number;
	rowHeight?: number;
	/** Below this width the table scrolls sideways. */
	minWidth?: number;
	sort?: Sort;
	onSort?: (sort: Sort) => void;
	/** Click or Enter on a row. */
	onOpen?: (row: T, e: MouseEvent | KeyboardEvent) => void;
	/** Called for other keys while a row is marked. Returns true if it handled the key. */
	onKey?: (row: T, e: KeyboardEvent) => boolean;
	chosen?: (row: T) => boolean;
	/** Further classes of a row, such as for headings of groups. */
	rowClass?: (row: T) => string;
	/** Shown if there are no rows. */
	empty?: ComponentChildren;
	class?: string;
}

export const HEAD_HEIGHT = 30;
const ROW_HEIGHT = 30;

function tracksOf<T>(columns: readonly TableColumn<T>[]): string {
	return columns.map((c) => pxToRem(c.width)).join(' ');
}

export function VirtualTable<T>(props: VirtualTableProps<T>) {
	const { rows, columns } = props;
	const rowHeight = px(props.rowHeight ?? ROW_HEIGHT);
	const id = useId();
	const [active, setActive] = useState(-1);
	const virtual = useVirtual(rows.length, rowHeight, px(HEAD_HEIGHT));
	const now = Math.min(active, rows.length - 1);
	const onKeyDown = (e: KeyboardEvent) => {
		if (moveByKey(e, virtual, { count: rows.length, height: rowHeight }, now, setActive)) return;
		const row = rows[now];
		if (e.target !== e.currentTarget || row === undefined) return;
		if (props.onKey?.(row, e)) e.preventDefault();
		else if (e.key === 'Enter') props.onOpen?.(row, e);
	};
	return (
		<div
			ref={virtual.ref}
			class={`virtual table ${props.onOpen ? 'opens' : ''} ${props.class ?? ''}`}
			role="grid"
			tabIndex={0}
			aria-label={props.label}
			aria-rowcount={rows.length + 1}
			aria-colcount={columns.length}
			aria-activedescendant={isDrawn(virtual, now) ? `${id}-${now}` : undefined}
			onScroll={virtual.onScroll}
			onKeyDown={onKeyDown}
		>
			<div role="rowgroup" class="virtual-head" style={{ minWidth: px(props.minWidth ?? 0) }}>
				<div role="row" aria-rowindex={1} style={{ gridTemplateColumns: tracksOf(columns) }}>
					{columns.map((c) => (
						<HeadCell key={c.key} column={c} sort={props.sort} onSort={props.onSort} />
					))}
				</div>
			</div>
			<div
				role="rowgroup"
				class="virtual-rows"
				style={{ height: rows.length * rowHeight, minWidth: px(props.minWidth ?? 0) }}
			>
				{rows.slice(virtual.first, virtual.last).map((row, k) => {
					const i = virtual.first + k;
					const open = (e: MouseEvent) => {
						setActive(i);
						props.onOpen?.(row, e);
					};
					return (
						<TableRow
							key={props.keyOf(row, i)}
							{...{ table: props, row, i, open }}
							id={`${id}-${i}`}
							active={i === now}
						/>
					);
				})}
			</div>
			{!rows.length && props.empty}
		</div>
	);
}

function TableRow<T>(props: {
	table: VirtualTableProps<T>;
	row: T;
	i: number;
	id: string;
	active: boolean;
	open: (e: MouseEvent) => void;
}) {
	const { table, row, i } = props;
	const height = px(table.rowHeight ?? ROW_HEIGHT);
	return (
		<div
			id={props.id}
			role="row"
			aria-rowindex={i + 2}
			aria-selected={table.chosen ? table.chosen(row) : undefined}
			class={`virtual-row ${props.active ? 'active' : ''} ${table.rowClass?.(row) ?? ''}`}
			style={{ top: i * height, height, gridTemplateColumns: tracksOf(table.columns) }}
			onClick={props.open}
		>
			{table.columns.map((c) => (
				<div key={c.key} role="gridcell" class={c.number ? 'cell number' : 'cell'}>
					{c.cell(row, i)}
				</div>
			))}
		</div>
	);
}

export function HeadCell(props: {
	column: Omit<TableColumn<never>, 'cell'>;
	sort: Sort | undefined;
	onSort: ((sort: Sort) => void) | undefined;
}) {
	const { column: c, sort, onSort } = props;
	const down = sort?.key === c.key ? sort.down : null;
	const click = () => onSort?.({ key: c.key, down: down === null ? c.sort === 'down' : !down });
	return (
		<div
			role="columnheader"
			class={c.number ? 'cell number' : 'cell'}
			aria-sort={down === null ? undefined : down ? 'descending' : 'ascending'}
			title={c.hint}
		>
			{c.sort && onSort ? (
				<button class="plain" onClick={click}>
					{c.title}
					<span aria-hidden="true">{down === null ? '' : down ? '▾' : '▴'}</span>
				</button>
			) : (
				c.title
			)}
		</div>
	);
}

/* The values of a column over time, as a heat map. Dragging selects a time window, as in the timeline. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Table, TableHeat } from '../../api/types';
import type { Window } from '../../logic/address';
import { plural } from '../../logic/format';
import { unitOf } from '../../logic/rows/row_columns';
import { heatGrid, partOf, valueAt, windowOf, type Values } from '../../logic/rows/value_heat';
import { ticksBetween } from '../../logic/tables/histogram';
import { timeTicks } from '../../logic/timeline/timeline_range';
import { formatAmount, formatTime, formatWindow, sumUnit, type Unit } from '../../logic/units';
import { address, go } from '../../state/address';
import { askTable } from '../../state/event_tables';
import { useQuestion } from '../../state/questions';
import { px } from '../../state/scale';
import { brushDone, brushTo, setBrush } from '../../state/timeline';
import { Loading } from '../parts/states';
import { useSize } from '../parts/use_size';
import { HeatLegend } from '../tables/heatmap';
import { heatPicture } from '../tables/heatmap_canvas';
import { heatStops } from '../timeline/timeline_colours';
import { ValueChoice, valueColumn } from './event_histogram';
import { NoRows } from './no_rows';
import type { Told } from './told';

/** Minimum width and height of a cell in pixels. */
const CELL_PX = 4;
const ROWS = 40;
const LEFT = 64;
const RIGHT = 14;
const TOP = 8;
const BOTTOM = 24;

/** Number of columns for a width; in steps, so that resizing rarely causes a request. */
function pixelsFor(width: number): number {
	return Math.max(50, Math.round((width - px(LEFT)) / CELL_PX / 50) * 50);
}

export function EventHeat(props: { table: Table; tell: (told: Told) => void }) {
	const { table, tell } = props;
	const { ref, width } = useSize<HTMLDivElement>();
	const answer = useQuestion<TableHeat>(() => {
		const scale = address.value.logy ? 'log' : 'linear';
		const value = valueColumn(table)?.name;
		const more = { value, pixels: pixelsFor(width), rows: ROWS, scale };
		return width && value ? askTable(table.name, 'heatmap', more) : null;
	});
	const { data, error, loading, of } = answer.value;
	useEffect(() => tell({ matched: data?.matched ?? null, error, loading }), [data, error, loading]);
	const shown = table.columns.find((c) => c.name === of?.query.value) ?? valueColumn(table)!;
	const { logy } = address.value;
	return (
		<div class="event-plot" ref={ref}>
			<div class="event-tools">
				<ValueChoice table={table} />
				<button
					aria-pressed={logy}
					title="Equal steps upwards are equal ratios: for values of very different size"
					onClick={() => go({ logy: !logy }, true)}
				>
					log y
				</button>
			</div>
			{!data && !error && <Loading what="Reading values…" />}
			{data && !error && !data.matched && <NoRows />}
			{data && !error && data.matched > 0 && (
				<HeatPlot
					heat={data}
					values={{ min: data.min, max: data.max, log: of?.query.scale === 'log' }}
					name={shown.name}
					unit={sumUnit(unitOf(shown), 1)}
					width={width}
				/>
			)}
		</div>
	);
}

interface HeatPlotProps {
	heat: TableHeat;
	values: Values;
	name: string;
	unit: Unit;
	width: number;
}

/** A cell: its column, and its row from the bottom. */
interface Cell {
	x: number;
	y: number;
}

function HeatPlot(props: HeatPlotProps) {
	const { heat, values, name, unit } = props;
	const { ref, height } = useSize<HTMLDivElement>();
	const [at, setAt] = useState<Cell | null>(null);
	const grid = useMemo(() => heatGrid(heat), [heat]);
	const size = {
		width: Math.max(80, props.width - px(LEFT) - px(RIGHT)),
		height: Math.max(0, height - px(TOP) - px(BOTTOM)),
	};
	const drag = useDrag(heat, size.width, size.height, setAt);
	const range = `${formatAmount(values.min, unit)} to ${formatAmount(values.max, unit)}`;
	return (
		<div class="event-heat">
			<div
				ref={ref}
				class="event-heat-figure"
				role="application"
				aria-roledescription="heat map"
				aria-label={`Heat map of ${name}: ${plural(heat.matched, 'row')} with values from ${range}`}
				aria-description="Arrow keys move between cells, Enter selects the time of the cell."
				tabIndex={0}
				onKeyDown={(e) => heatKey(e, heat, at, setAt)}
			>
				<Axes {...props} size={size} />
				<div
					class="event-heat-cells"
					style={{
						left: px(LEFT) + 'px',
						top: px(TOP) + 'px',
						width: size.width + 'px',
						height: size.height + 'px',
					}}
					{...drag}
				>
					<Cells grid={grid} />
					{at && <CellFrame at={at} heat={heat} />}
					{address.value.window && <Brushed window={address.value.window} heat={heat} />}
				</div>
			</div>
			<p class="event-heat-foot small">
				<span aria-live="polite">
					{at ? cellWords(at, props) : <span class="dim">Drag to select a time window.</span>}
				</span>
				<HeatLegend top={plural(grid.top, 'row')} />
			</p>
		</div>
	);
}

function Cells(props: { grid: ReturnType<typeof heatGrid> }) {
	const { grid } = props;
	const canvas = useRef<HTMLCanvasElement>(null);
	const stops = heatStops.value;
	useEffect(() => {
		const element = canvas.current!;
		element.width = grid.columns;
		element.height = grid.rows;
		element.getContext('2d')!.drawImage(heatPicture(grid), 0, 0);
	}, [grid, stops]);
	return <canvas ref={canvas} aria-hidden="true" />;
}

function percent(part: number): string {
	return part * 100 + '%';
}

function CellFrame(props: { at: Cell; heat: TableHeat }) {
	const { at, heat } = props;
	return (
		<div
			class="event-heat-cell"
			style={{
				left: percent(at.x / heat.pixels),
				bottom: percent(at.y / heat.rows),
				width: percent(1 / heat.pixels),
				height: percent(1 / heat.rows),
			}}
		/>
	);
}

/** The part of the heat map inside the brushed window: nearly all of it, except during a drag. */
function Brushed(props: { window: Window; heat: TableHeat }) {
	const { window: w, heat } = props;
	const all = heat.to_ns - heat.from_ns;
	const part = (ns: number) => Math.min(1, Math.max(0, (ns - heat.from_ns) / all));
	const [from, to] = [part(w.from), part(w.to)];
	if (to - from > 0.98) return null;
	return (
		<div class="event-heat-brush" style={{ left: percent(from), width: percent(to - from) }} />
	);
}

function cellWords(at: Cell, p: HeatPlotProps): string {
	const { heat, values, unit } = p;
	const w = windowOf(at.x, at.x, heat);
	const f = (part: number) => formatAmount(valueAt(part, values), unit);
	const count = heat.cells[at.x * heat.rows + at.y] ?? 0;
	const range =
		values.min === values.max ? f(0) : `${f(at.y / heat.rows)} – ${f((at.y + 1) / heat.rows)}`;
	return `${formatWindow(w.from, w.to)}, ${p.name} ${range}: ${plural(count, 'row')}`;
}

/** Pointer handlers: moving shows the cell under the pointer, dragging selects the time between two columns. */
function useDrag(
	heat: TableHeat,
	width: number,
	height: number,
	setAt: (cell: Cell | null) => void,
) {
	const from = useRef<number | null>(null);
	const cellUnder = (e: PointerEvent): Cell => {
		const box = (e.currentTarget as Element).getBoundingClientRect();
		const inside = (value: number, count: number) =>
			Math.max(0, Math.min(count - 1, Math.floor(value * count)));
		return {
			x: inside((e.clientX - box.left) / width, heat.pixels),
			y: inside(1 - (e.clientY - box.top) / height, heat.rows),
		};
	};
	return {
		onPointerDown: (e: PointerEvent) => {
			if (e.button) return;
			(e.currentTarget as Element).setPointerCapture(e.pointerId);
			from.current = cellUnder(e).x;
		},
		onPointerMove: (e: PointerEvent) => setAt(cellUnder(e)),
		onPointerUp: (e: PointerEvent) => {
			const { x } = cellUnder(e);
			// Set the window only at the end of a drag: it would change the heat map under the pointer.
			if (from.current !== null && x !== from.current) {
				brushTo('window', windowOf(from.current, x, heat));
				brushDone();
			}
			from.current = null;
		},
		onPointerCancel: () => (from.current = null),
		onPointerLeave: () => setAt(null),
	};
}

const STEPS: Record<string, [number, number]> = {
	ArrowLeft: [-1, 0],
	ArrowRight: [1, 0],
	ArrowUp: [0, 1],
	ArrowDown: [0, -1],
};

function heatKey(
	e: KeyboardEvent,
	heat: TableHeat,
	at: Cell | null,
	setAt: (cell: Cell | null) => void,
): void {
	if (e.ctrlKey || e.metaKey || e.altKey) return;
	const step = STEPS[e.key];
	const inside = (value: number, count: number) => Math.max(0, Math.min(count - 1, value));
	if (step) {
		const now = at ?? { x: -step[0], y: -step[1] };
		setAt({ x: inside(now.x + step[0], heat.pixels), y: inside(now.y + step[1], heat.rows) });
	} else if (e.key === 'Enter' && at) setBrush('window', windowOf(at.x, at.x, heat));
	else if (e.key === 'Escape' && at) setAt(null);
	else return;
	e.preventDefault();
	e.stopPropagation();
}

function Axes(props: HeatPlotProps & { size: { width: number; height: number } }) {
	const { heat, values, unit, size } = props;
	const range = { from: heat.from_ns, to: heat.to_ns };
	const times = timeTicks(range, Math.max(2, Math.floor(size.width / px(110))));
	const k = unit.factor;
	const least = values.log ? Math.max(values.min, 1) : values.min;
	const marks = ticksBetween(
		least * k,
		values.max * k,
		values.log,
		Math.max(2, size.height / px(50)),
	)
		.map((v) => v / k)
		.filter((v) => v >= least);
	const left = px(LEFT);
	const bottom = px(TOP) + size.height;
	const y = (v: number) => bottom - partOf(v, values) * size.height;
	const x = (ns: number) => left + ((ns - range.from) / (range.to - range.from)) * size.width;
	return (
		<svg width={props.width} height={bottom + px(BOTTOM)} aria-hidden="true">
			{marks.map((v) => (
				<text key={v} x={left - 6} y={Math.max(y(v), px(TOP + 8)) + 3} text-anchor="end">
					{formatAmount(v, unit)}
				</text>
			))}
			{times.at.map((ns) => (
				<text
					key={ns}
					x={x(ns)}
					y={bottom + px(16)}
					text-anchor={x(ns) > left + size.width - px(30) ? 'end' : 'middle'}
				>
					{formatTime(ns, times.step)}
				</text>
			))}
		</svg>
	);
}

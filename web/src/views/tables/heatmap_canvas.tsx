/* The cells of the heat map, and interaction with them. Uses the brushes of the timeline. */
import { useEffect, useRef } from 'preact/hooks';
import type { Window } from '../../logic/address';
import {
	cellAt,
	cellOf,
	cellWindow,
	colourScale,
	gridSpan,
	stepCell,
	stripesOf,
	windowBetween,
	type Cell,
	type Grid,
} from '../../logic/tables/heatmap';
import { partAt, span, timeAt, type Brush } from '../../logic/timeline/timeline_range';
import { formatWindow } from '../../logic/units';
import {
	brushDone,
	brushes,
	brushTo,
	clearBrushes,
	cursor,
	plotWidth,
	setBrush,
	whole,
} from '../../state/timeline';
import { colours, faint, heatStops } from '../timeline/timeline_colours';
import { freshBrush, listen } from '../timeline/timeline_gestures';

/** The cells as a picture of one pixel each, first row at the bottom. */
export function heatPicture(
	grid: Pick<Grid, 'columns' | 'rows' | 'cells' | 'top'>,
): HTMLCanvasElement {
	const canvas = document.createElement('canvas');
	canvas.width = grid.columns;
	canvas.height = grid.rows;
	const context = canvas.getContext('2d')!;
	const image = context.createImageData(grid.columns, grid.rows);
	const scale = colourScale(heatStops.value);
	for (let column = 0; column < grid.columns; column++)
		for (let row = 0; row < grid.rows; row++) {
			const value = grid.cells[column * grid.rows + row]!;
			const colour = Math.min(255, Math.ceil((value / grid.top) * 255)) * 3;
			const at = ((grid.rows - 1 - row) * grid.columns + column) * 4;
			image.data.set(scale.subarray(colour, colour + 3), at);
			image.data[at + 3] = 255;
		}
	context.putImageData(image, 0, 0);
	return canvas;
}

interface Place {
	x(ns: number): number;
	height: number;
}

function drawBrush(c: CanvasRenderingContext2D, w: Window, grid: Grid, at: Place, colour: string) {
	const begin = gridSpan(grid).from;
	const length = grid.secondsAColumn * 1e9;
	c.fillStyle = faint(colour, 0.2);
	for (const stripe of stripesOf(w, grid)) {
		const left = at.x(begin + stripe.column * length);
		const right = at.x(begin + (stripe.column + 1) * length);
		const top = (1 - stripe.to) * at.height;
		const [wide, tall] = [right - left, (stripe.to - stripe.from) * at.height];
		c.fillRect(left, top, wide, tall);
		// A rim in the colour of the background makes the frame visible on any cell.
		for (const [colourNow, width] of [
			[colours.value.surface, 4],
			[colour, 2],
		] as const) {
			c.strokeStyle = colourNow;
			c.lineWidth = width;
			c.strokeRect(left + 2, top + 2, Math.max(wide - 4, 1), Math.max(tall - 4, 1));
		}
	}
}

function draw(canvas: HTMLCanvasElement, cells: HTMLCanvasElement, grid: Grid, tall: number) {
	const ratio = devicePixelRatio || 1;
	const width = plotWidth.value;
	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(tall * ratio);
	const c = canvas.getContext('2d')!;
	c.scale(ratio, ratio);
	const all = whole.value;
	const x = (ns: number) => partAt(ns, all) * width;
	const extent = gridSpan(grid);
	c.imageSmoothingEnabled = false;
	c.drawImage(cells, x(extent.from), 0, x(extent.to) - x(extent.from), tall);
	const { window: first, second } = brushes.value;
	const at = { x, height: tall };
	if (first) drawBrush(c, first, grid, at, colours.value.accent);
	if (second) drawBrush(c, second, grid, at, colours.value.second);
	const now = cursor.value === null ? null : cellOf(cursor.value, grid);
	if (!now) return;
	const w = cellWindow(now, grid);
	const length = grid.secondsAColumn * 1e9;
	const left = x(extent.from + now.column * length);
	const row = tall / grid.rows;
	c.strokeStyle = colours.value.ink;
	c.lineWidth = 1.5;
	const cellWidth = Math.max(x(w.from + length) - x(w.from), 3);
	c.strokeRect(left, (grid.rows - 1 - now.row) * row - 1, cellWidth, row + 2);
}

function cellUnder(e: PointerEvent, area: HTMLElement, grid: Grid): Cell {
	const rect = area.getBoundingClientRect();
	const ns = timeAt((e.clientX - rect.left) / rect.width, whole.peek());
	return cellAt(ns, (e.clientY - rect.top) / rect.height, grid);
}

function middle(w: Window): number {
	return w.from + span(w) / 2;
}

/** Dragging from one cell to another selects everything between them. */
function followCells(area: HTMLElement, grid: Grid): () => void {
	let from: { cell: Cell; brush: Brush } | null = null;
	const down = (e: PointerEvent) => {
		if (e.button) return;
		area.setPointerCapture(e.pointerId);
		from = { cell: cellUnder(e, area, grid), brush: freshBrush(e) };
	};
	const moving = (e: PointerEvent) => {
		const cell = cellUnder(e, area, grid);
		cursor.value = middle(cellWindow(cell, grid));
		if (from) brushTo(from.brush, windowBetween(from.cell, cell, grid));
	};
	const up = (e: PointerEvent) => {
		if (!from) return;
		brushTo(from.brush, windowBetween(from.cell, cellUnder(e, area, grid), grid));
		brushDone(from.brush === 'second');
		from = null;
	};
	const leave = () => {
		if (!from) cursor.value = null;
	};
	return listen(area, {
		pointerdown: down,
		pointermove: moving,
		pointerup: up,
		pointercancel: up,
		pointerleave: leave,
	});
}

const STEPS: Record<string, [number, number]> = {
	ArrowLeft: [-1, 0],
	ArrowRight: [1, 0],
	ArrowUp: [0, 1],
	ArrowDown: [0, -1],
};

function heatKey(e: KeyboardEvent, grid: Grid): void {
	if (e.ctrlKey || e.metaKey || e.altKey) return;
	const now = (cursor.peek() !== null && cellOf(cursor.peek()!, grid)) || { column: 0, row: 0 };
	const step = STEPS[e.key];
	const w = cellWindow(now, grid);
	const known = brushes.peek().window;
	if (step) cursor.value = middle(cellWindow(stepCell(now, ...step, grid), grid));
	else if (e.key === '[')
		setBrush('window', { from: w.from, to: known && known.to > w.from ? known.to : w.to });
	else if (e.key === ']')
		setBrush('window', { from: known && known.from < w.to ? known.from : w.from, to: w.to });
	else if (e.key === 'Enter' || e.key === ' ') setBrush('window', w);
	else if (e.key === 'Escape') clearBrushes();
	else return;
	e.preventDefault();
	e.stopPropagation();
}

/** The value of the cell under the cursor, as text. */
export function HeatText(props: { grid: Grid; text: (value: number) => string }) {
	const { grid } = props;
	const now = cursor.value === null ? null : cellOf(cursor.value, grid);
	const value = now ? grid.cells[now.column * grid.rows + now.row]! : 0;
	const w = now && cellWindow(now, grid);
	return (
		<span class="heat-text small cut" aria-live="polite">
			{w ? `${formatWindow(w.from, w.to)}: ${props.text(value)}` : ''}
		</span>
	);
}

export function HeatCanvas(props: { grid: Grid; height: number }) {
	const { grid, height } = props;
	const area = useRef<HTMLDivElement>(null);
	const canvas = useRef<HTMLCanvasElement>(null);
	const cells = useRef<{ grid: Grid; stops: string[]; image: HTMLCanvasElement }>();
	useEffect(() => followCells(area.current!, grid), [grid]);
	// Everything that draw() reads: any change of it leads to one drawing.
	const parts = [plotWidth.value, whole.value.to, brushes.value, cursor.value, heatStops.value];
	useEffect(() => {
		const stops = heatStops.value;
		if (cells.current?.grid !== grid || cells.current.stops !== stops)
			cells.current = { grid, stops, image: heatPicture(grid) };
		draw(canvas.current!, cells.current.image, grid, height);
	}, [grid, height, ...parts]);
	return (
		<div
			ref={area}
			class="heat-area"
			role="application"
			aria-roledescription="heat map"
			aria-label={`Heat map: ${grid.columns} columns of ${grid.secondsAColumn} s`}
			aria-description="Arrow keys move, Enter selects the cell, [ and ] set the ends of the window, Escape clears."
			tabIndex={0}
			onKeyDown={(e) => heatKey(e, grid)}
			style={{ height: height + 'px', width: plotWidth.value + 'px' }}
		>
			<canvas ref={canvas} />
		</div>
	);
}

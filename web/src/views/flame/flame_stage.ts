/* The canvas of a flame graph: the visible part, moving to another one, and painting. Boxes are put
 * into the pixels directly, a row at a time, which costs the same for ten nodes and for 100,000. */
import { INK, pixel, type FlamePaint, type Rgb } from '../../logic/flame/flame_colours';
import type { FlameGraph } from '../../logic/flame/flame_layout';
import {
	betweenViews,
	clampView,
	fitText,
	nodeAt,
	paintRow,
	WHOLE_VIEW,
	zoomView,
	type FlameView,
	type Labels,
} from '../../logic/flame/flame_view';
import { px } from '../../state/scale';

/** In pixels at the usual size of text. */
const ROW = 19;
const TEXT = 12;
const MOVE_MS = 150;
const LABEL_FROM = 26;
const PAD = 4;

/** Widths of characters of one font, measured once each. */
function characterWidths(font: string): (character: string) => number {
	const context = new OffscreenCanvas(1, 1).getContext('2d')!;
	context.font = font;
	const known = new Map<string, number>();
	return (character) => {
		let width = known.get(character);
		if (width === undefined) known.set(character, (width = context.measureText(character).width));
		return width;
	};
}

/** The current value of a token of tokens.css. */
function tokenColour(element: Element, name: string): string {
	return getComputedStyle(element).getPropertyValue(name).trim();
}

function parseHex(hex: string): Rgb {
	const n = parseInt(hex.replace('#', ''), 16) || 0;
	return [(n >> 16) & 255, (n >> 8) & 255, n & 255];
}

export interface Box {
	left: number;
	top: number;
	width: number;
	height: number;
}

export class FlameStage {
	view: FlameView = WHOLE_VIEW;
	/** Height of a box with its gap. */
	row = px(ROW);
	/** Pixels scrolled away from the root. */
	scroll = 0;
	root: 'top' | 'bottom' = 'bottom';
	hover = -1;
	cursor = -1;
	labelOf: (node: number) => string = () => '';
	marked: Uint8Array | null = null;
	onPaint: () => void = () => {};
	private graph: FlameGraph | null = null;
	private paint: FlamePaint | null = null;
	private readonly context: CanvasRenderingContext2D;
	private image: ImageData | null = null;
	private width = 0;
	private height = 0;
	private ratio = 1;
	private frame = 0;
	private move: { from: FlameView; to: FlameView; since: number } | null = null;
	private ink = '';
	private accent = '';
	private thumb = '';
	private gap = 0;
	private font = '';
	private widthOf: (character: string) => number = () => 6;

	constructor(private readonly canvas: HTMLCanvasElement) {
		// We write the pixels: a copy in the graphics card would be moved back and forth.
		this.context = canvas.getContext('2d', { alpha: false, willReadFrequently: true })!;
	}

	stop(): void {
		cancelAnimationFrame(this.frame);
		this.frame = 0;
	}

	resize(width: number, height: number): void {
		const ratio = devicePixelRatio || 1;
		if (width === this.width && height === this.height && ratio === this.ratio) return;
		[this.width, this.height, this.ratio] = [width, height, ratio];
		this.canvas.width = Math.max(1, Math.round(width * ratio));
		this.canvas.height = Math.max(1, Math.round(height * ratio));
		this.image = null;
		this.scrollTo(this.scroll);
		this.paintNow();
	}

	/** Reads colours and font of the theme. Must be called when these change. */
	dress(dark: boolean): void {
		this.row = px(ROW);
		const [r, g, b] = INK[dark ? 'dark' : 'light'];
		this.ink = `rgb(${r} ${g} ${b})`;
		this.accent = tokenColour(this.canvas, '--accent');
		this.thumb = tokenColour(this.canvas, '--line-strong');
		this.gap = pixel(parseHex(tokenColour(this.canvas, '--surface')));
		this.font = `${px(TEXT)}px ${tokenColour(this.canvas, '--font')}`;
		this.widthOf = characterWidths(this.font);
		this.invalidate();
	}

	show(graph: FlameGraph, paint: FlamePaint): void {
		this.graph = graph;
		this.paint = paint;
		if (this.hover >= graph.count) this.hover = -1;
		this.scrollTo(this.scroll);
		this.invalidate();
	}

	invalidate(): void {
		this.frame ||= requestAnimationFrame((now) => {
			this.frame = 0;
			this.step(now);
			this.paintNow();
		});
	}

	private step(now: number): void {
		if (!this.move) return;
		const part = Math.min(1, Math.max(0, (now - this.move.since) / MOVE_MS));
		const eased = 1 - (1 - part) ** 3;
		this.view = betweenViews(this.move.from, this.move.to, eased);
		if (part < 1) this.invalidate();
		else this.move = null;
	}

	/** @smooth: animates the move. */
	moveTo(to: FlameView, smooth: boolean): void {
		const moves = smooth && !matchMedia('(prefers-reduced-motion: reduce)').matches;
		this.move = moves ? { from: this.view, to, since: performance.now() } : null;
		if (!moves) this.view = to;
		this.invalidate();
	}

	panBy(dx: number, dy: number): void {
		const step = (dx / Math.max(1, this.width)) * (this.view.right - this.view.left);
		this.move = null;
		this.view = clampView(this.view.left + step, this.view.right + step);
		this.scrollTo(this.scroll + (this.root === 'top' ? dy : -dy));
		this.invalidate();
	}

	zoomAt(x: number, factor: number): void {
		this.move = null;
		this.view = zoomView(this.view, x / Math.max(1, this.width), factor);
		this.invalidate();
	}

	/** How far the rows can be scrolled, pixels; 0 if all fit. */
	get scrollable(): number {
		return Math.max(0, (this.graph?.rows.length ?? 0) * this.row + 2 - this.height);
	}

	scrollTo(scroll: number): void {
		this.scroll = Math.min(this.scrollable, Math.max(0, scroll));
	}

	/** Scrolls no farther than needed to show the row of @node. */
	reveal(node: number): void {
		if (!this.height) return;
		const depth = this.graph?.depth[node] ?? 0;
		const near = depth * this.row;
		if (near < this.scroll) this.scrollTo(near);
		else if (near + this.row > this.scroll + this.height)
			this.scrollTo(near + 2 * this.row - this.height);
		this.invalidate();
	}

	private topOf(depth: number): number {
		return this.root === 'top'
			? depth * this.row - this.scroll
			: this.height - (depth + 1) * this.row + this.scroll;
	}

	nodeAt(x: number, y: number): number {
		if (!this.graph) return -1;
		const down = this.root === 'top' ? y + this.scroll : this.height - y + this.scroll;
		const at = this.view.left + (x / this.width) * (this.view.right - this.view.left);
		return nodeAt(this.graph, Math.floor(down / this.row), at);
	}

	/** Where a node is drawn, cut to the visible part. */
	boxOf(node: number): Box {
		const { x0, x1, depth } = this.graph!;
		const scale = this.width / (this.view.right - this.view.left);
		const left = Math.max(0, (x0[node]! - this.view.left) * scale);
		const right = Math.min(this.width, (x1[node]! - this.view.left) * scale);
		return { left, top: this.topOf(depth[node]!), width: right - left, height: this.row - 1 };
	}

	private paintNow(): void {
		if (!this.graph || !this.paint || !this.width || !this.height) return;
		const labels = this.paintBoxes(this.graph, this.paint);
		this.context.putImageData(this.image!, 0, 0);
		this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		this.paintLabels(labels);
		this.paintThumb();
		this.outline(this.hover, this.ink, 1);
		this.outline(this.cursor, this.accent, 2);
		this.onPaint();
	}

	/** Paints the rows into the pixels. Returns where names may be drawn. */
	private paintBoxes(graph: FlameGraph, paint: FlamePaint): { depth: number; labels: Labels }[] {
		const { width, height } = this.canvas;
		this.image ??= new ImageData(width, height);
		const pixels = new Uint32Array(this.image.data.buffer);
		const line = new Uint32Array(width);
		const look = {
			...paint,
			gap: this.gap,
			stripe: this.gap,
			labelFrom: LABEL_FROM * this.ratio,
		};
		const out: { depth: number; labels: Labels }[] = [];
		pixels.fill(this.gap);
		for (let depth = 0; depth < graph.rows.length; depth++) {
			const top = this.topOf(depth);
			if (top + this.row <= 0 || top >= this.height) continue;
			const labels: Labels = [];
			paintRow(graph, depth, this.view, look, line, labels);
			const from = Math.max(0, Math.round(top * this.ratio));
			const to = Math.min(height, Math.round((top + this.row - 1) * this.ratio));
			for (let y = from; y < to; y++) pixels.set(line, y * width);
			out.push({ depth, labels });
		}
		return out;
	}

	private paintLabels(rows: { depth: number; labels: Labels }[]): void {
		const { context, ratio } = this;
		context.font = this.font;
		context.fillStyle = this.ink;
		context.textBaseline = 'middle';
		for (const { depth, labels } of rows) {
			const top = this.topOf(depth);
			for (let i = 0; i < labels.length; i += 3) {
				const node = labels[i]!;
				const left = labels[i + 1]! / ratio;
				const right = labels[i + 2]! / ratio;
				const text = fitText(this.labelOf(node), right - left - 2 * PAD, this.widthOf);
				if (text) context.fillText(text, left + PAD, top + this.row / 2);
				// Underline matches: colour alone must not tell them.
				if (this.marked?.[node]) context.fillRect(left, top + this.row - 3, right - left - 1, 2);
			}
		}
	}

	/** The scroll bar, if there are more rows than fit. */
	private paintThumb(): void {
		if (!this.scrollable) return;
		const all = this.scrollable + this.height;
		const size = Math.max(24, (this.height / all) * this.height);
		const way = (this.scroll / this.scrollable) * (this.height - size);
		const top = this.root === 'top' ? way : this.height - size - way;
		this.context.fillStyle = this.thumb;
		this.context.fillRect(this.width - 5, top, 4, size);
	}

	private outline(node: number, colour: string, width: number): void {
		if (node < 0 || !this.graph || node >= this.graph.count) return;
		const box = this.boxOf(node);
		if (box.width < 0) return;
		this.context.strokeStyle = colour;
		this.context.lineWidth = width;
		this.context.strokeRect(
			box.left + 0.5,
			box.top + 0.5,
			Math.max(1, box.width - 1),
			box.height - 1,
		);
	}
}

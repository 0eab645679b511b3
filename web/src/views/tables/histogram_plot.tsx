/* The picture of a histogram: bars, percentiles, axes. Hovering and arrow keys read single bars. */
import { useMemo, useState } from 'preact/hooks';
import type { ValueHistogram } from '../../api/types';
import { plural } from '../../logic/format';
import {
	labelIsLeft,
	labelRows,
	layOutBars,
	layOutPercentiles,
	ticksBetween,
	xScale,
	yScale,
	type Axes,
	type Bar,
	type Line,
} from '../../logic/tables/histogram';
import { formatShare, formatAmount, type Unit } from '../../logic/units';
import { px } from '../../state/scale';
import { useSize } from '../parts/use_size';

const LEFT = 58;
const RIGHT = 14;
const BOTTOM = 24;
const LABEL_WIDTH = 96;
const LABEL_HEIGHT = 15;

interface HistogramPlotProps {
	histogram: ValueHistogram;
	axes: Axes;
	unit: Unit;
	name: string;
	/** What was counted: "sample", "interval". */
	what: string;
	width: number;
}

/** Positions in pixels. */
interface Frame {
	width: number;
	top: number;
	height: number;
	x: (part: number) => number;
	y: (part: number) => number;
}

function frameOf(width: number, height: number, labels: number): Frame {
	const inner = Math.max(80, width - px(LEFT) - px(RIGHT));
	const top = px(8) + labels * px(LABEL_HEIGHT);
	const bars = Math.max(0, height - top - px(BOTTOM));
	return {
		width: inner,
		top,
		height: bars,
		x: (part) => px(LEFT) + part * inner,
		y: (part) => top + (1 - part) * bars,
	};
}

function barText(b: Bar, p: HistogramPlotProps): string {
	const f = (v: number) => formatAmount(v, p.unit);
	const range = b.from === b.to ? f(b.from) : `${f(b.from)} – ${f(b.to)}`;
	return `${range}: ${plural(b.count, p.what)}, ${formatShare(b.count / p.histogram.count)}`;
}

export function HistogramPlot(props: HistogramPlotProps) {
	const { histogram: h, axes, unit } = props;
	const [at, setAt] = useState(-1);
	const bars = useMemo(() => layOutBars(h, axes), [h, axes.logx, axes.logy]);
	const lines = useMemo(() => layOutPercentiles(h, axes), [h, axes.logx]);
	const rows = labelRows(lines, px(LABEL_WIDTH) / Math.max(80, props.width - px(LEFT) - px(RIGHT)));
	const { ref, height } = useSize<HTMLDivElement>();
	const frame = frameOf(props.width, height, Math.max(...rows) + 1);
	const now = Math.min(at, bars.length - 1);
	const bar = bars[now];
	const onKeyDown = (e: KeyboardEvent) => {
		const steps: Record<string, number> = {
			ArrowRight: now + 1,
			ArrowLeft: now - 1,
			Home: 0,
			End: bars.length - 1,
		};
		if (e.key === 'Escape') return setAt(-1);
		const to = steps[e.key];
		if (to === undefined) return;
		e.preventDefault();
		setAt(Math.max(0, Math.min(to, bars.length - 1)));
	};
	const onPointer = (e: PointerEvent) => {
		const box = (e.currentTarget as Element).getBoundingClientRect();
		const part = (e.clientX - box.left - px(LEFT)) / frame.width;
		setAt(bars.findIndex((b) => part >= b.x0 && part <= b.x1));
	};
	const f = (v: number) => formatAmount(v, unit);
	return (
		<div class="histogram-plot">
			<div
				ref={ref}
				class="histogram-figure"
				role="group"
				aria-roledescription="histogram"
				aria-label={`${props.name}: half of ${plural(h.count, props.what)} are below ${f(h.p50)}, 99 % below ${f(h.p99)}. Arrows read the bars.`}
				tabIndex={0}
				onKeyDown={onKeyDown}
				onPointerMove={onPointer}
				onPointerLeave={() => setAt(-1)}
			>
				<svg width={props.width} height={height} aria-hidden="true">
					<YAxis frame={frame} most={Math.max(...bars.map((b) => b.count))} log={axes.logy} />
					<XAxis frame={frame} plot={props} />
					{bars.map((b, i) => (
						<BarShape key={i} bar={b} frame={frame} on={i === now} />
					))}
					<Percentiles lines={lines} rows={rows} frame={frame} format={f} />
				</svg>
			</div>
			<p class="histogram-hint small" aria-live="polite">
				{bar ? barText(bar, props) : <span class="dim">Point at a bar to read it.</span>}
			</p>
		</div>
	);
}

function BarShape(props: { bar: Bar; frame: Frame; on: boolean }) {
	const { bar: b, frame, on } = props;
	const [x0, x1] = [frame.x(b.x0), frame.x(b.x1)];
	const gap = x1 - x0 > 4 ? 1 : 0;
	// A value that occurred once must not vanish below a pixel.
	const high = b.count ? Math.max(2, b.y * frame.height) : 0;
	return (
		<>
			{on && (
				<rect class="histogram-here" x={x0} width={x1 - x0} y={frame.top} height={frame.height} />
			)}
			<rect
				class={on ? 'histogram-bar is-on' : 'histogram-bar'}
				x={x0}
				width={Math.max(1, x1 - x0 - gap)}
				y={frame.top + frame.height - high}
				height={high}
			/>
		</>
	);
}

function YAxis(props: { frame: Frame; most: number; log: boolean }) {
	const { frame, most, log } = props;
	const scale = yScale(most, log);
	const ticks = ticksBetween(log ? 1 : 0, most, log, Math.max(4, frame.height / px(80))).filter(
		(n) => Number.isInteger(n),
	);
	return (
		<g class="histogram-axis">
			{ticks.map((n) => (
				<g key={n}>
					<line
						x1={px(LEFT)}
						x2={px(LEFT) + frame.width}
						y1={frame.y(scale(n))}
						y2={frame.y(scale(n))}
					/>
					<text x={px(LEFT) - 6} y={frame.y(scale(n)) + px(4)} text-anchor="end">
						{n.toLocaleString('en')}
					</text>
				</g>
			))}
		</g>
	);
}

function XAxis(props: { frame: Frame; plot: HistogramPlotProps }) {
	const { frame, plot } = props;
	const { histogram: h, axes } = plot;
	const scale = xScale(h, axes.logx);
	const least = axes.logx ? Math.min(...h.bins.map((b) => b.from).filter((v) => v > 0)) : h.min;
	// Ticks are round in the unit that is shown, not in the server's.
	const k = plot.unit.factor;
	const ticks = ticksBetween(least * k, h.max * k, axes.logx, frame.width / px(90)).map(
		(v) => v / k,
	);
	const zero = axes.logx && h.bins.some((b) => b.from <= 0) ? [0] : [];
	const y = frame.top + frame.height;
	return (
		<g class="histogram-axis">
			<line class="histogram-base" x1={px(LEFT)} x2={px(LEFT) + frame.width} y1={y} y2={y} />
			{[...zero, ...ticks].map((v) => (
				<g key={v}>
					<line
						class="histogram-base"
						x1={frame.x(scale(v))}
						x2={frame.x(scale(v))}
						y1={y}
						y2={y + 4}
					/>
					<text
						x={frame.x(scale(v))}
						y={y + px(17)}
						text-anchor={scale(v) > 0.97 ? 'end' : 'middle'}
					>
						{formatAmount(v, plot.unit)}
					</text>
				</g>
			))}
		</g>
	);
}

function Percentiles(props: {
	lines: Line[];
	rows: number[];
	frame: Frame;
	format: (v: number) => string;
}) {
	const { lines, rows, frame } = props;
	return (
		<g class="histogram-percentiles">
			{lines.map((l, i) => {
				const x = frame.x(l.x);
				const left = labelIsLeft(l, px(LABEL_WIDTH) / frame.width);
				const y = px(11) + rows[i]! * px(LABEL_HEIGHT);
				return (
					<g key={l.label}>
						<line x1={x} x2={x} y1={y - px(8)} y2={frame.top + frame.height} />
						<text x={left ? x - 3 : x + 3} y={y} text-anchor={left ? 'end' : 'start'}>
							<tspan class="histogram-label">{l.label}</tspan> {props.format(l.value)}
						</text>
					</g>
				);
			})}
		</g>
	);
}

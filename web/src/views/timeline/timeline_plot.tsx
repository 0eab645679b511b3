/* One small plot: a counter's lines with bands from minimum to maximum, or the rate of samples as
 * an area. uPlot draws; data and ranges are replaced in place. */
import { effect, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Plot } from '../../logic/timeline/timeline_plots';
import { timeTicks } from '../../logic/timeline/timeline_range';
import { formatCount } from '../../logic/units';
import { axisWidth, plots, visible } from '../../state/timeline';
import { px, scale } from '../../state/scale';
import { colours, faint } from './timeline_colours';

/** With more lines there are no bands: they would only hide each other. */
const BANDS_MAX = 4;

/** Plots take the colours in order, so that neighbours differ; after the last, the first again. */
function colourOf(place: number): string {
	const all = colours.value.series;
	return all[place % all.length]!;
}

interface Holder {
	plot: Plot;
	place: number;
}

function seriesOf(holder: Holder): { series: uPlot.Series[]; bands: uPlot.Band[] } {
	const series: uPlot.Series[] = [{}];
	const bands: uPlot.Band[] = [];
	const { lines, area } = holder.plot;
	const banded = !area && lines.length <= BANDS_MAX;
	const common = { points: { show: false }, spanGaps: false };
	lines.forEach((_, i) => {
		const colour = () => colourOf(lines.length > 1 ? i : holder.place);
		if (banded) {
			bands.push({
				series: [series.length, series.length + 1],
				fill: () => faint(colour(), 0.25),
			});
			series.push({ ...common, width: 0 }, { ...common, width: 0 });
		}
		series.push({
			...common,
			width: 1.25,
			stroke: colour,
			fill: area ? () => faint(colour(), 0.22) : undefined,
		});
	});
	return { series, bands };
}

function alignedData(plot: Plot): uPlot.AlignedData {
	const banded = !plot.area && plot.lines.length <= BANDS_MAX;
	return [
		plot.t,
		...plot.lines.flatMap((l) => (banded ? [l.max, l.min, l.mean] : [l.mean])),
	] as uPlot.AlignedData;
}

/** Draws small triangles at the top where values exceed the axis. */
function drawClipped(u: uPlot, plot: Plot): void {
	const { ctx, bbox } = u;
	const size = 4 * uPlot.pxRatio;
	ctx.fillStyle = colours.value.warn;
	let last = -Infinity;
	for (const { max } of plot.lines)
		for (let i = 0; i < max.length; i++) {
			if ((max[i] ?? 0) <= plot.top) continue;
			const x = u.valToPos(plot.t[i]!, 'x', true);
			if (x < bbox.left || x > bbox.left + bbox.width || Math.abs(x - last) < size) continue;
			last = x;
			ctx.beginPath();
			ctx.moveTo(x, bbox.top);
			ctx.lineTo(x - size, bbox.top + size * 1.4);
			ctx.lineTo(x + size, bbox.top + size * 1.4);
			ctx.fill();
		}
}

/** Draws a dashed line at the bottom where the kernel multiplexed the counter. */
function drawShared(u: uPlot, plot: Plot): void {
	const { ctx, bbox } = u;
	const thick = 3 * uPlot.pxRatio;
	ctx.fillStyle = colours.value.warn;
	for (const i of plot.shared) {
		const x = u.valToPos(plot.t[i]!, 'x', true);
		const end = i + 1 < plot.t.length ? u.valToPos(plot.t[i + 1]!, 'x', true) : x + 1;
		if (end < bbox.left || x > bbox.left + bbox.width || Math.floor(x / 4) % 2) continue;
		ctx.fillRect(Math.max(x, bbox.left), bbox.top + bbox.height - thick, end - x, thick);
	}
}

function options(holder: Holder, width: number, height: number): uPlot.Options {
	const axis = (): string => colours.value.dim;
	const grid = { stroke: () => colours.value.line, width: 1 };
	return {
		width,
		height,
		padding: [8, 0, 6, 0],
		legend: { show: false },
		cursor: { show: false },
		scales: {
			x: { time: false, range: () => [visible.peek().from, visible.peek().to] },
			y: { range: () => [0, holder.plot.top] },
		},
		axes: [
			{
				size: 0,
				grid,
				ticks: { show: false },
				splits: (u) => timeTicks(visible.peek(), u.bbox.width / uPlot.pxRatio / 90).at,
				values: (_, splits) => splits.map(() => ''),
			},
			{
				size: () => axisWidth.peek(),
				stroke: axis,
				font: `${px(10)}px system-ui, sans-serif`,
				gap: 4,
				grid,
				ticks: { show: false },
				splits: () => [0, holder.plot.top / 2, holder.plot.top],
				values: (_, splits) => splits.map((v) => formatCount(v).replace(' ', '')),
			},
		],
		...seriesOf(holder),
		hooks: {
			draw: [
				(u) => {
					if (holder.plot.clipped) drawClipped(u, holder.plot);
					if (holder.plot.shared.length) drawShared(u, holder.plot);
				},
			],
		},
	};
}

/** Keeps @chart up to date while it is visible; simultaneous changes lead to one drawing. */
function keepDrawn(chart: uPlot, holder: Holder, host: HTMLElement): () => void {
	const seen = signal(true);
	const observer = new IntersectionObserver((entries) => {
		seen.value = entries.at(-1)!.isIntersecting;
	});
	observer.observe(host);
	let theme = colours.peek();
	const stop = effect(() => {
		const { from, to } = visible.value;
		const plot = plots.value.find((p) => p.key === holder.plot.key);
		const now = colours.value;
		if (!seen.value || !plot) return;
		if (plot !== holder.plot && plot.lines.length === holder.plot.lines.length) {
			holder.plot = plot;
			chart.setData(alignedData(plot));
		} else if (now !== theme) chart.redraw(false, true);
		else chart.setScale('x', { min: from, max: to });
		theme = now;
	});
	return () => {
		stop();
		observer.disconnect();
	};
}

export function PlotCanvas(props: { plot: Plot; place: number; width: number; height: number }) {
	const { plot, place, width, height } = props;
	const host = useRef<HTMLDivElement>(null);
	const chart = useRef<uPlot>();

	useEffect(() => {
		const holder = { plot, place };
		const u = new uPlot(options(holder, width, height), alignedData(plot), host.current!);
		chart.current = u;
		const stop = keepDrawn(u, holder, host.current!);
		return () => {
			stop();
			u.destroy();
		};
	}, [plot.lines.length, plot.area, place, scale.value]);

	useEffect(() => {
		const u = chart.current!;
		if (u.width !== width || u.height !== height) u.setSize({ width, height });
	}, [width, height]);

	return <div class="plot-canvas" ref={host} />;
}

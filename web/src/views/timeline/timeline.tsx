/* The timeline: a small plot for each counter and one for samples, with one time axis, one cursor
 * and the brushes that every view below follows. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Run } from '../../api/types';
import { flagsOf, SAMPLES, type Plot } from '../../logic/timeline/timeline_plots';
import { address } from '../../state/address';
import { width } from '../../state/layout';
import { isLive, run } from '../../state/runs';
import {
	axisWidth,
	brushes,
	hidden,
	marks,
	PHONE_PLOTS,
	plots,
	plotsOf,
	plotWidth,
	visible,
} from '../../state/timeline';
import { tell } from '../../state/toasts';
import { px } from '../../state/scale';
import { HeatmapView } from '../tables/heatmap';
import { NoAnswer } from '../parts/no_answer';
import { Empty, Loading } from '../parts/states';
import { useTimelineData } from './timeline_data';
import { Flags, Overlay, TimeAxis } from './timeline_overlay';
import { Tools } from './timeline_tools';
import './timeline.css';

const FLAG_PX = 18;

const ROW_MIN_PX = 50;
const ROW_MAX_PX = 110;
const POINTS_PX = 208;

/** Few plots are higher than many, and tall screens make all higher. Too many plots scroll. */
function rowHeight(count: number): number {
	if (width.value === 'phone') return px(ROW_MIN_PX);
	const part = count <= 2 ? 0.1 : count <= 4 ? 0.06 : 0.055;
	return Math.round(Math.min(Math.max(innerHeight * part, px(ROW_MIN_PX)), px(ROW_MAX_PX)));
}

/** Measures the width that lines are drawn in: that of the overlay. */
function useWidth() {
	const area = useRef<HTMLDivElement>(null);
	useLayoutEffect(() => {
		const measure = () => {
			const sheet = area.current!.querySelector<HTMLElement>('.overlay');
			plotWidth.value = sheet?.clientWidth ?? 0;
		};
		measure();
		const observer = new ResizeObserver(measure);
		observer.observe(area.current!);
		return () => observer.disconnect();
	}, []);
	return area;
}

/** The drawing code is loaded with the first run: the list of sessions does not need it. */
const loadRows = () => import('./timeline_row');
const loadPoints = () => import('./timeline_points');

function useLoaded<T>(load: (() => Promise<T>) | null): T | null {
	const [loaded, setLoaded] = useState<{ by: unknown; what: T } | null>(null);
	useEffect(() => {
		load?.().then((what) => setLoaded({ by: load, what }), tell);
	}, [load]);
	return loaded?.by === load ? loaded.what : null;
}

/** The number of plots to come: their space is reserved, so that nothing moves later. */
function expected(r: Run): number {
	const counted = r.tool === 'record' ? 0 : (r.events?.length ?? 0);
	const all = counted + (r.tool === 'stat' ? 0 : 1);
	return width.value === 'phone' ? Math.min(all, PHONE_PLOTS) : all;
}

function Plots(props: { all: Plot[]; run: Run }) {
	const area = useWidth();
	const across = plotWidth.value;
	const brushed = brushes.value.window !== null || brushes.value.second !== null;
	const points = address.value.plot !== 'lines' && props.all.some((p) => p.key === SAMPLES);
	const drawRows = useLoaded(loadRows);
	const drawPoints = useLoaded(points ? loadPoints : null);
	const shown = props.all.filter((p) => !hidden.value.has(p.key));
	const count = props.all.length ? shown.length : expected(props.run);
	const height = rowHeight(count);
	return (
		<div class="plots" ref={area}>
			<div
				class={brushed ? 'plot-rows is-brushed' : 'plot-rows'}
				style={{ minHeight: (points ? px(POINTS_PX) : count * height) + 'px' }}
			>
				{!props.all.length && (
					<Loading
						what={isLive(props.run) ? 'Waiting for the first values…' : 'Reading the timeline…'}
					/>
				)}
				<Flags flags={flagsOf(marks.value, visible.value, across, px(FLAG_PX))} />
				{across > 0 && drawPoints && <drawPoints.PointsPlot height={px(POINTS_PX)} />}
				{across > 0 &&
					drawRows &&
					!points &&
					shown.map((plot) => (
						<drawRows.PlotRow
							key={plot.key}
							plot={plot}
							place={props.all.indexOf(plot)}
							width={across + axisWidth.value}
							height={height}
						/>
					))}
				<Overlay plots={shown} />
			</div>
			<TimeAxis />
		</div>
	);
}

export function TimelineView() {
	const r = run.value;
	const { error } = useTimelineData().value;
	if (!r || r.state === 'queued') return null;
	const known = plotsOf.value === r.uuid;
	const all = known ? plots.value : [];
	return (
		<section class="timeline card" aria-label="Timeline">
			<Tools plots={all} hasSamples={all.some((p) => p.key === SAMPLES)} />
			{error && !known ? (
				<NoAnswer error={error} />
			) : known && !all.length && !isLive(r) ? (
				<Empty title="Nothing was counted or sampled">
					<p>{r.error ?? 'The run ended before the first value. Its output may say why.'}</p>
				</Empty>
			) : (
				<>
					<Plots all={all} run={r} />
					<HeatmapView plots={all} />
				</>
			)}
		</section>
	);
}

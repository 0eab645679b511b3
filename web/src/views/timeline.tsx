/* The timeline: a small plot for each counter and one for samples, with one time axis, one cursor and
 * the brushes that every view below follows. */
import { useSignal, type Signal } from '@preact/signals';
import type { ComponentChild } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Run } from '../api/types';
import { flagsOf, SAMPLES, type Plot } from '../logic/timeline_plots';
import { address } from '../state/address';
import { isLive, run } from '../state/runs';
import { hidden, marks, plots, plotsOf, plotWidth, visible } from '../state/timeline';
import { tell } from '../state/toasts';
import { HeatmapView } from './heatmap';
import { Empty, Loading, Problem } from './states';
import { useTimelineData } from './timeline_data';
import { Flags, Overlay, TimeAxis } from './timeline_overlay';
import { AXIS_PX } from './timeline_plot';
import { PlotRow } from './timeline_row';
import { Tools } from './timeline_tools';
import './timeline.css';

const FLAG_PX = 18;

const ROW_MIN_PX = 58;
const ROW_MAX_PX = 110;
const AXIS_ROW_PX = 25;
const POINTS_MIN_PX = 130;

/** Rows share the room that there is; when they would become too small, they scroll. */
function rowHeight(count: number, room: number): number {
	const fair = Math.floor((room - AXIS_ROW_PX) / Math.max(count, 1));
	return Math.min(Math.max(fair, ROW_MIN_PX), ROW_MAX_PX);
}

/** Measures where lines are drawn: as wide as the sheet that lies over them. @room: the height. */
function useSize(room: Signal<number>) {
	const area = useRef<HTMLDivElement>(null);
	useLayoutEffect(() => {
		const measure = () => {
			const sheet = area.current!.querySelector<HTMLElement>('.overlay');
			plotWidth.value = sheet?.clientWidth ?? 0;
			room.value = area.current!.clientHeight;
		};
		measure();
		const observer = new ResizeObserver(measure);
		observer.observe(area.current!);
		return () => observer.disconnect();
	}, []);
	return area;
}

function Waiting(props: { run: Run }) {
	const place = props.run.progress?.place ?? 0;
	const others = place === 1 ? '1 run' : `${place} runs`;
	return (
		<Empty title="This run has not begun">
			<p>{place > 0 ? `It waits for ${others}.` : 'It begins in a moment.'}</p>
		</Empty>
	);
}

/** Points are asked for rarely: their code is loaded when they are. */
function LazyPoints(props: { height: number }) {
	const [Points, setPoints] = useState<((p: { height: number }) => ComponentChild) | null>(null);
	useEffect(() => {
		import('./timeline_points').then((m) => setPoints(() => m.PointsPlot), tell);
	}, []);
	return Points ? <Points height={props.height} /> : <Loading what="Reading the samples…" />;
}

function Plots(props: { all: Plot[] }) {
	const room = useSignal(0);
	const area = useSize(room);
	const width = plotWidth.value;
	const points = address.value.plot !== 'lines' && props.all.some((p) => p.key === SAMPLES);
	const shown = props.all.filter((p) => !hidden.value.has(p.key));
	const height = rowHeight(shown.length, room.value);
	return (
		<div class="plots" ref={area}>
			<div class="plot-rows">
				<Flags flags={flagsOf(marks.value, visible.value, width, FLAG_PX)} />
				{width > 0 && points && (
					<LazyPoints height={Math.max(room.value - AXIS_ROW_PX, POINTS_MIN_PX)} />
				)}
				{width > 0 &&
					!points &&
					shown.map((plot) => (
						<PlotRow
							key={plot.key}
							plot={plot}
							place={props.all.indexOf(plot)}
							width={width + AXIS_PX}
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
	if (!r) return null;
	if (r.state === 'queued')
		return (
			<section class="timeline card">
				<Waiting run={r} />
			</section>
		);
	const known = plotsOf.value === r.uuid;
	const all = known ? plots.value : [];
	return (
		<section class="timeline card" aria-label="Timeline">
			<Tools plots={all} hasSamples={all.some((p) => p.key === SAMPLES)} />
			{error && !known ? (
				<Problem error={error} />
			) : known && !all.length && !isLive(r) ? (
				<Empty title="Nothing was counted or sampled">
					<p>{r.error ?? 'The run ended before the first value. Its output may say why.'}</p>
				</Empty>
			) : (
				<>
					{!all.length && (
						<Loading what={isLive(r) ? 'Waiting for the first values…' : 'Reading the timeline…'} />
					)}
					<Plots all={all} />
					<HeatmapView plots={all} />
				</>
			)}
		</section>
	);
}

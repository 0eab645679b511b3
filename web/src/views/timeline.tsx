/* The timeline: a small plot for each counter and one for samples, with one time axis, one cursor and
 * the brushes that every view below follows. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Run } from '../api/types';
import { flagsOf, SAMPLES, type Plot } from '../logic/timeline_plots';
import { isLive, run } from '../state/runs';
import { hidden, marks, plots, plotsOf, plotWidth, visible } from '../state/timeline';
import { Empty, Loading, Problem } from './states';
import { useTimelineData } from './timeline_data';
import { Flags, Overlay, TimeAxis } from './timeline_overlay';
import { AXIS_PX } from './timeline_plot';
import { PlotRow } from './timeline_row';
import { Tools, Windows } from './timeline_tools';
import './timeline.css';

const FLAG_PX = 18;

function rowHeight(count: number): number {
	return count <= 2 ? 100 : count <= 4 ? 80 : 64;
}

/** Measures where lines are drawn: as wide as the sheet that lies over them. */
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

function Waiting(props: { run: Run }) {
	const place = props.run.progress?.place ?? 0;
	const others = place === 1 ? '1 run' : `${place} runs`;
	return (
		<Empty title="This run has not begun">
			<p>{place > 0 ? `It waits for ${others}.` : 'It begins in a moment.'}</p>
		</Empty>
	);
}

function Plots(props: { all: Plot[] }) {
	const area = useWidth();
	const width = plotWidth.value;
	const shown = props.all.filter((p) => !hidden.value.has(p.key));
	const height = rowHeight(shown.length);
	return (
		<div class="plots" ref={area}>
			<div class="plot-rows">
				<Flags flags={flagsOf(marks.value, visible.value, width, FLAG_PX)} />
				{width > 0 &&
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
			<Tools plots={all} hasSamples={all.some((p) => p.key === SAMPLES)} save={null} />
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
					<Windows />
				</>
			)}
		</section>
	);
}

/* The timeline: a small plot for each counter and one for samples, with one time axis, one cursor and
 * the brushes that every view below follows. */
import { useSignal, useSignalEffect } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Run, Timeline } from '../api/types';
import type { Window } from '../logic/address';
import { flagsOf, SAMPLES, storedPlots, type Plot } from '../logic/timeline_plots';
import { askRange } from '../logic/timeline_range';
import { address } from '../state/address';
import { useQuestion } from '../state/questions';
import { isLive, run } from '../state/runs';
import { LIVE_AGAIN_MS } from '../state/selection';
import { hidden, learnEnd, plotWidth, visible, whole } from '../state/timeline';
import { Empty, Loading, Problem } from './states';
import { Flags, Overlay, TimeAxis } from './timeline_overlay';
import { AXIS_PX } from './timeline_plot';
import { PlotRow } from './timeline_row';
import { Tools } from './timeline_tools';
import './timeline.css';

const FLAG_PX = 18;
const ASK_EVERY_MS = 80;
/** Width is asked for in steps, so that a resized window does not ask for every pixel. */
const PIXEL_STEP = 100;

/** What the server is asked for: follows what is visible, not faster than is useful. */
function useAskedRange() {
	const asked = useSignal<Window | null>(null);
	const timer = useRef(0);
	useSignalEffect(() => {
		void visible.value;
		void whole.value;
		void run.value?.uuid;
		if (timer.current) return;
		timer.current = window.setTimeout(() => {
			timer.current = 0;
			asked.value = askRange(asked.peek(), visible.peek(), whole.peek());
		}, ASK_EVERY_MS);
	});
	return asked;
}

function useTimeline() {
	const asked = useAskedRange();
	return useQuestion<Timeline>(() => {
		const r = run.value;
		if (!r || r.state === 'queued' || !plotWidth.value) return null;
		const { threads, pids, cpus, frames } = address.value;
		const pixels = Math.ceil(plotWidth.value / PIXEL_STEP) * PIXEL_STEP;
		const range = asked.value;
		return {
			path: `benchmark/${r.uuid}/timeline`,
			query: {
				...(range ? { from: range.from, to: range.to } : {}),
				pixels: range ? pixels * 2 : pixels,
				samples: true,
				threads,
				pids,
				cpus,
				frames,
			},
			columns: true,
			again: isLive(r) ? LIVE_AGAIN_MS : undefined,
		};
	});
}

function rowHeight(count: number): number {
	return count <= 2 ? 100 : count <= 4 ? 80 : 64;
}

function useWidth() {
	const area = useRef<HTMLDivElement>(null);
	useLayoutEffect(() => {
		const observer = new ResizeObserver(() => {
			const names = area.current!.querySelector<HTMLElement>('.overlay');
			plotWidth.value = names?.clientWidth ?? 0;
		});
		observer.observe(area.current!);
		return () => observer.disconnect();
	}, []);
	return area;
}

function Waiting(props: { run: Run }) {
	const place = props.run.progress?.place ?? 0;
	return (
		<Empty title="This run has not begun">
			<p>
				{place > 0
					? `It waits for ${place} ${place === 1 ? 'run' : 'runs'}.`
					: 'It begins in a moment.'}
			</p>
		</Empty>
	);
}

function Plots(props: { all: Plot[]; data: Timeline | null }) {
	const area = useWidth();
	const width = plotWidth.value;
	const shown = props.all.filter((p) => !hidden.value.has(p.key));
	const height = rowHeight(shown.length);
	const flags = props.data ? flagsOf(props.data.marks, visible.value, width, FLAG_PX) : [];
	return (
		<div class="plots" ref={area}>
			<div class="plot-rows">
				<Flags flags={flags} />
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
	const answer = useTimeline();
	const { data, of, error, loading } = answer.value;
	const mine = data && of?.path === `benchmark/${r?.uuid}/timeline` ? data : null;
	const plots = useMemo(() => (mine ? storedPlots(mine) : []), [mine]);
	useSignalEffect(() => {
		const { data: newest, of: asked } = answer.value;
		const r = run.value;
		if (r && newest && asked?.path.includes(r.uuid) && asked.query.to === undefined)
			learnEnd(r.uuid, newest.to_ns);
	});
	if (!r) return null;
	if (r.state === 'queued')
		return (
			<section class="timeline card">
				<Waiting run={r} />
			</section>
		);
	const empty = mine && !plots.length && !isLive(r);
	return (
		<section class="timeline card" aria-label="Timeline">
			<Tools plots={plots} hasSamples={plots.some((p) => p.key === SAMPLES)} save={null} />
			{error && !mine ? (
				<Problem error={error} />
			) : empty ? (
				<Empty title="Nothing was counted or sampled">
					<p>{r.error ?? 'The run ended before the first value. Its output may say why.'}</p>
				</Empty>
			) : (
				<>
					{!mine && loading && <Loading what="Reading the timeline…" />}
					<Plots all={plots} data={mine} />
				</>
			)}
		</section>
	);
}

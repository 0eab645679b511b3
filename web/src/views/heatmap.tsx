/* The sub-second heat map below the plots: patterns that come back every second, and single bursts, are
 * seen at a glance and selected by dragging. */
import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Heatmap } from '../api/types';
import { makeGrid, type Grid } from '../logic/heatmap';
import { SAMPLES, type Plot } from '../logic/timeline_plots';
import { formatCount, formatValue, sumUnit } from '../logic/units';
import { address } from '../state/address';
import { useQuestion } from '../state/questions';
import { isLive, run } from '../state/runs';
import { filters } from '../state/selection';
import { nowNs, plotWidth } from '../state/timeline';
import { HEAT_HEIGHT, HeatCanvas } from './heatmap_canvas';
import { Loading, Problem } from './states';
import { heatStops } from './timeline_colours';
import './heatmap.css';

const ROWS = 50;
const AGAIN_MS = 2000;
const COLUMN_MIN_PX = 3;
/** Shorter runs have too few columns to show a pattern. */
const SHORT_NS = 3e9;

/** What the user said; null: as the run's length suggests. */
const opened = signal<boolean | null>(null);
/** A counter's name; null: samples. */
const counter = signal<string | null>(null);

function Legend(props: { top: string }) {
	return (
		<div class="heat-legend small dim" aria-hidden="true">
			<span>0</span>
			<span
				class="heat-scale"
				style={{ background: `linear-gradient(to right, ${heatStops.value.join(', ')})` }}
			/>
			<span>{props.top}</span>
		</div>
	);
}

function useHeat(shown: string | null, wanted: boolean) {
	return useQuestion<Heatmap>(() => {
		const r = run.value;
		if (!r || r.state === 'queued' || !wanted) return null;
		void address.value;
		return {
			path: `benchmark/${r.uuid}/heatmap`,
			query: { ...filters.value, rows: ROWS, counter: counter.value ?? shown },
			columns: true,
			again: isLive(r) ? AGAIN_MS : undefined,
		};
	});
}

function Body(props: { plots: Plot[]; fallback: string | null }) {
	const { data, error } = useHeat(props.fallback, true).value;
	const width = plotWidth.value;
	const grid = useMemo<Grid | null>(
		() => (data && data.seconds ? makeGrid(data, width / COLUMN_MIN_PX) : null),
		[data, width],
	);
	if (error && !data) return <Problem error={error} />;
	if (!data)
		return (
			<div style={{ height: HEAT_HEIGHT + 44 + 'px' }}>
				<Loading what="Reading the heat map…" />
			</div>
		);
	if (!grid) return <p class="heat-none small dim">There is nothing to show yet.</p>;
	const name = counter.value ?? props.fallback;
	const source = name ? props.plots.find((p) => p.key === name)?.source : null;
	const unit = sumUnit(source?.unit ?? null, source?.scale ?? 1);
	const text = (v: number) =>
		name ? `${formatValue(v, unit)} of ${name}` : `${formatCount(v)} samples`;
	return (
		<div class="heat-body">
			<div class="heat-side small dim" aria-hidden="true">
				<span>1 s</span>
				<span>½ s</span>
				<span>0</span>
			</div>
			<div class="heat-main">
				<HeatCanvas grid={grid} text={text} />
				<Legend top={text(grid.top)} />
			</div>
		</div>
	);
}

export function HeatmapView(props: { plots: Plot[] }) {
	const open = opened.value ?? nowNs.value >= SHORT_NS;
	const names = props.plots.filter((p) => p.key !== SAMPLES).map((p) => p.key);
	const hasSamples = names.length < props.plots.length;
	if (!props.plots.length) return null;
	const fallback = hasSamples ? null : names[0]!;
	if (counter.value && !names.includes(counter.value)) counter.value = null;
	return (
		<div class="heat">
			<div class="heat-head">
				<button
					class="plain heat-toggle"
					aria-expanded={open}
					title="Each column is one second, from bottom to top; each cell a fiftieth of it"
					onClick={() => (opened.value = !open)}
				>
					<span aria-hidden="true">{open ? '▾' : '▸'}</span> Heat map of each second
				</button>
				{open && names.length > 0 && (
					<select
						aria-label="What the heat map shows"
						value={counter.value ?? fallback ?? ''}
						onChange={(e) => (counter.value = e.currentTarget.value || null)}
					>
						{hasSamples && <option value="">Samples</option>}
						{names.map((name) => (
							<option key={name} value={name}>
								{name}
							</option>
						))}
					</select>
				)}
			</div>
			{open && <Body plots={props.plots} fallback={fallback} />}
		</div>
	);
}

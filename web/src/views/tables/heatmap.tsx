/* The sub-second heat map below the plots: shows patterns that repeat every second, and single
 * bursts. Both can be selected by dragging. */
import { signal, useSignal } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Heatmap } from '../../api/types';
import { makeGrid, type Grid } from '../../logic/tables/heatmap';
import { SAMPLES, type Plot } from '../../logic/timeline/timeline_plots';
import { formatCount, formatValue, sumUnit } from '../../logic/units';
import { width as layoutWidth } from '../../state/layout';
import { useQuestion } from '../../state/questions';
import { isLive, run } from '../../state/runs';
import { filters } from '../../state/selection';
import { liveAgain, nowNs, plotWidth } from '../../state/timeline';
import { px } from '../../state/scale';
import { HeatCanvas, HeatText } from './heatmap_canvas';
import { heatStops } from '../timeline/timeline_colours';
import './heatmap.css';

const ROWS = 50;
const COLUMN_MIN_PX = 3;
/** Shorter runs have too few columns to show a pattern. */
const SHORT_NS = 3e9;
/** High screens have room for two pixels a row. */
const TALL_PX = 100;
const LOW_PX = 56;
const TALL = matchMedia('(min-height: 1000px)');

/** The user's choice; null: as the run's length suggests. */
const opened = signal<boolean | null>(null);
/** A counter's name; null: samples. */
const counter = signal<string | null>(null);

function useTall(): boolean {
	const [tall, setTall] = useState(TALL.matches);
	useEffect(() => {
		const change = () => setTall(TALL.matches);
		TALL.addEventListener('change', change);
		return () => TALL.removeEventListener('change', change);
	}, []);
	return tall;
}

export function HeatLegend(props: { top: string }) {
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

function useGrid(name: string | null, open: boolean) {
	// Signals, so that a change asks the question below again.
	const opens = useSignal(open);
	const wanted = useSignal(name);
	opens.value = open;
	wanted.value = name;
	const answer = useQuestion<Heatmap>(() => {
		const r = run.value;
		if (!r || r.state === 'queued' || !opens.value) return null;
		return {
			path: `benchmark/${r.uuid}/heatmap`,
			query: { ...filters.value, rows: ROWS, counter: wanted.value },
			columns: true,
			again: isLive(r) ? liveAgain.value : undefined,
		};
	});
	const { data, error } = answer.value;
	const width = plotWidth.value;
	const grid = useMemo<Grid | null>(
		() => (data && data.seconds ? makeGrid(data, width / COLUMN_MIN_PX) : null),
		[data, width],
	);
	return { grid, error: data ? null : error, empty: data !== null && !data.seconds };
}

function Choice(props: { names: string[]; hasSamples: boolean; name: string | null }) {
	if (!props.names.length) return null;
	return (
		<select
			aria-label="What the heat map shows"
			value={props.name ?? ''}
			onChange={(e) => (counter.value = e.currentTarget.value || null)}
		>
			{props.hasSamples && <option value="">Samples</option>}
			{props.names.map((name) => (
				<option key={name} value={name}>
					{name}
				</option>
			))}
		</select>
	);
}

function Cells(props: { grid: Grid | null; error: Error | null; empty: boolean; height: number }) {
	const { grid, height } = props;
	if (grid)
		return (
			<div class="heat-body">
				<div class="heat-side dim" style={{ height: height + 'px' }} aria-hidden="true">
					<span>1 s</span>
					<span>0</span>
				</div>
				<HeatCanvas grid={grid} height={height} />
			</div>
		);
	return (
		<p class="heat-none small dim" role="status" style={{ height: height + 'px' }}>
			{props.error?.message ?? (props.empty ? 'There is nothing to show yet.' : 'Reading…')}
		</p>
	);
}

export function HeatmapView(props: { plots: Plot[] }) {
	const r = run.value;
	const live = r !== null && isLive(r);
	const long = nowNs.value >= SHORT_NS;
	// A live run reserves the space, so that nothing moves when there is enough to show. On
	// phones the result needs the space more.
	const open = opened.value ?? (layoutWidth.value !== 'phone' && (live || long));
	const asks = open && props.plots.length > 0 && (long || !live);
	const names = props.plots.filter((p) => p.key !== SAMPLES).map((p) => p.key);
	const hasSamples = names.length < props.plots.length;
	const chosen = counter.value && names.includes(counter.value) ? counter.value : null;
	const name = chosen ?? (hasSamples ? null : (names[0] ?? null));
	const height = px(useTall() ? TALL_PX : LOW_PX);
	const { grid, error, empty } = useGrid(name, asks);
	if (!props.plots.length && !live) return null;
	const source = name ? props.plots.find((p) => p.key === name)?.source : null;
	const unit = sumUnit(source?.unit ?? null, source?.scale ?? 1);
	const text = (v: number) =>
		name ? `${formatValue(v, unit)} of ${name}` : `${formatCount(v)} samples`;
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
				{open && <Choice names={names} hasSamples={hasSamples} name={name} />}
				{open && grid && <HeatText grid={grid} text={text} />}
				{open && grid && <HeatLegend top={text(grid.top)} />}
			</div>
			{open && <Cells grid={grid} error={error} empty={empty || !asks} height={height} />}
		</div>
	);
}

/* Single samples: time × function, or time × address. uPlot draws the axis, we draw the points. */
import { effect, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import type { Flame, Points } from '../../api/types';
import {
	byAddress,
	byFunction,
	pointNear,
	pointSearch,
	type PointLayout,
	type PointSearch,
} from '../../logic/timeline/timeline_points';
import { partAt, span, timeTicks } from '../../logic/timeline/timeline_range';
import { stackOf } from '../../logic/timeline/timeline_stack';
import { formatCount, formatTime } from '../../logic/units';
import { address, go } from '../../state/address';
import { useQuestion } from '../../state/questions';
import { isLive, run } from '../../state/runs';
import { filters } from '../../state/selection';
import { axisWidth, cursor, liveAgain, plotWidth, visible } from '../../state/timeline';
import { px } from '../../state/scale';
import { NoAnswer } from '../parts/no_answer';
import { Loading } from '../parts/states';
import { colours } from './timeline_colours';
import { useAskedRange } from './timeline_data';
import { pointerY, tapped } from './timeline_gestures';
import './timeline_points.css';

const POINTS_MAX = 20_000;
const REACH_PX = 12;
const STRIP_MIN_PX = 17;
const STACK_SHOWN = 14;

function usePoints() {
	const asked = useAskedRange();
	return useQuestion<Points>(() => {
		const r = run.value;
		if (!r || r.state === 'queued') return null;
		const range = asked.value;
		return {
			path: `benchmark/${r.uuid}/points`,
			query: {
				...(range ? { from: range.from, to: range.to } : {}),
				...filters.value,
				max: POINTS_MAX,
			},
			columns: true,
			again: isLive(r) ? liveAgain.value : undefined,
		};
	});
}

interface Scene {
	points: Points;
	layout: PointLayout;
	search: PointSearch;
	hit: number | null;
}

function drawPoints(u: uPlot, scene: Scene): void {
	const { ctx, bbox } = u;
	const { points, layout, hit } = scene;
	const range = visible.peek();
	const size = (points.t.length > 5000 ? 1.6 : 2.4) * uPlot.pxRatio;
	ctx.save();
	ctx.beginPath();
	ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
	ctx.clip();
	ctx.strokeStyle = colours.peek().line;
	for (const strip of layout.strips.slice(1)) {
		const y = Math.round(bbox.top + strip.top * bbox.height) + 0.5;
		ctx.strokeRect(bbox.left, y, bbox.width, 0);
	}
	const place = (i: number): [number, number] => [
		bbox.left + partAt(points.t[i]!, range) * bbox.width,
		bbox.top + layout.y[i]! * bbox.height,
	];
	// One colour after the other: changing the colour costs more than drawing.
	for (let colour = 0; colour < layout.colours.length; colour++) {
		ctx.fillStyle = colours.peek().series[colour % 8]!;
		for (let i = 0; i < points.t.length; i++) {
			if (layout.colour[i] !== colour) continue;
			const [x, y] = place(i);
			ctx.fillRect(x - size / 2, y - size / 2, size, size);
		}
	}
	if (hit !== null) {
		const [x, y] = place(hit);
		ctx.strokeStyle = colours.peek().ink;
		ctx.lineWidth = 1.5 * uPlot.pxRatio;
		ctx.beginPath();
		ctx.arc(x, y, 5 * uPlot.pxRatio, 0, 7);
		ctx.stroke();
	}
	ctx.restore();
}

function options(scene: { now: Scene }, width: number, height: number): uPlot.Options {
	return {
		width,
		height,
		padding: [0, 0, 0, 0],
		legend: { show: false },
		cursor: { show: false },
		scales: {
			x: { time: false, range: () => [visible.peek().from, visible.peek().to] },
			y: { range: () => [0, 1] },
		},
		axes: [
			{
				size: 0,
				grid: { stroke: () => colours.peek().line, width: 1 },
				ticks: { show: false },
				splits: (u) => timeTicks(visible.peek(), u.bbox.width / uPlot.pxRatio / 90).at,
				values: (_, splits) => splits.map(() => ''),
			},
			{
				size: () => axisWidth.peek(),
				grid: { show: false },
				ticks: { show: false },
				values: () => [],
			},
		],
		series: [{}, { show: false }],
		hooks: { draw: [(u) => drawPoints(u, scene.now)] },
	};
}

function Canvas(props: { scene: Scene; width: number; height: number }) {
	const { scene, width, height } = props;
	const host = useRef<HTMLDivElement>(null);
	const chart = useRef<uPlot>();
	const held = useRef({ now: scene });
	held.current.now = scene;
	useEffect(() => {
		const u = new uPlot(
			options(held.current, width, height),
			[
				[0, 1],
				[null, null],
			],
			host.current!,
		);
		chart.current = u;
		const stop = effect(() => {
			const { from, to } = visible.value;
			void colours.value;
			u.setScale('x', { min: from, max: to });
		});
		return () => {
			stop();
			u.destroy();
		};
	}, []);
	useEffect(() => chart.current!.setSize({ width, height }), [width, height]);
	useEffect(() => chart.current!.redraw(false, false), [scene, scene.hit]);
	return <div class="plot-canvas points-canvas" ref={host} />;
}

/** The stack at the time of the hit point. */
function useStack(scene: Scene | null) {
	const at = scene && scene.hit !== null ? scene.points.t[scene.hit]! : null;
	const moment = useSignal(at);
	moment.value = at;
	const answer = useQuestion<Flame>(() => {
		const r = run.value;
		if (moment.value === null || !r) return null;
		const query = { ...filters.value, from: moment.value, to: moment.value + 1, min: 0 };
		return { path: `benchmark/${r.uuid}/flame`, query };
	});
	const { data, of } = answer.value;
	return data && of?.query.from === at ? stackOf(data) : null;
}

function Tip(props: { scene: Scene; stack: string[] | null; area: HTMLElement | null }) {
	const { points, layout, hit } = props.scene;
	const host = props.area?.querySelector('.points-canvas')?.getBoundingClientRect();
	if (hit === null || !host) return null;
	const [name, module] = points.names[points.function[hit]!]!;
	const left = partAt(points.t[hit]!, visible.value);
	const stack = props.stack ?? [];
	const shown = stack.slice(0, -1).reverse().slice(0, STACK_SHOWN);
	return (
		<div
			class="point-tip"
			style={{
				left: host.left + axisWidth.value + left * plotWidth.value + 'px',
				top: host.top + layout.y[hit]! * host.height + 10 + 'px',
				transform: left > 0.6 ? 'translateX(calc(-100% - 10px))' : 'translateX(10px)',
			}}
		>
			<b>{name}</b> <span class="dim">{module}</span>
			<div class="dim">
				{formatTime(points.t[hit]!, span(visible.value) / 10000)} ·{' '}
				{points.events[points.event[hit]!]}
				{points.address_of === 'data' && ` · 0x${points.address[hit]!.toString(16)}`}
			</div>
			{shown.length > 0 && (
				<ol>
					{shown.map((caller, i) => (
						<li key={i} class="cut">
							{caller}
						</li>
					))}
					{stack.length - 1 > STACK_SHOWN && <li>and {stack.length - 1 - STACK_SHOWN} more</li>}
				</ol>
			)}
			<div class="dim">Click: show it in the flame graph</div>
		</div>
	);
}

/** The point under the pointer or, with the keyboard, the one nearest to the cursor. */
function useHit(search: PointSearch | null, area: { current: HTMLElement | null }, height: number) {
	const ns = cursor.value;
	if (!search || ns === null || !area.current) return null;
	const y = pointerY.value;
	const part = y === null ? null : (y - area.current.getBoundingClientRect().top) / height;
	if (part !== null && (part < 0 || part > 1)) return null;
	const nsAPixel = span(visible.value) / Math.max(plotWidth.value, 1);
	return pointNear(search, ns, part, nsAPixel, height, REACH_PX);
}

function PointLegend(props: { scene: Scene }) {
	const { layout, points } = props.scene;
	return (
		<div class="points-legend small">
			{layout.colours.length > 1 &&
				layout.colours.map((name, i) => (
					<span key={name}>
						<span class="swatch" style={{ background: colours.value.series[i % 8] }} />
						{name}
					</span>
				))}
			{points.thinned_from > points.t.length && (
				<span class="dim">
					{formatCount(points.t.length)} of {formatCount(points.thinned_from)} samples
				</span>
			)}
		</div>
	);
}

export function PointsPlot(props: { height: number }) {
	const { height } = props;
	const { data, error } = usePoints().value;
	const kind = address.value.plot;
	const area = useRef<HTMLDivElement>(null);
	const base = useMemo(() => {
		if (!data) return null;
		const strips = Math.max(2, Math.floor(height / px(STRIP_MIN_PX)));
		const layout = kind === 'addresses' ? byAddress(data, 8) : byFunction(data, strips);
		return { points: data, layout, search: pointSearch(data.t, layout.y) };
	}, [data, kind, height]);
	const hit = useHit(base?.search ?? null, area, height);
	const scene = useMemo(() => (base ? { ...base, hit } : null), [base, hit]);
	const stack = useStack(scene);
	useEffect(
		() =>
			effect(() => {
				// A press without a drag zooms the flame graph to this stack.
				if (tapped.value && stack) {
					tapped.value = false;
					go({ view: 'flame', mode: 'plain', focus: stack.join('\n') });
				}
			}),
		[stack],
	);
	if (error && !data) return <NoAnswer error={error} />;
	if (!scene) return <Loading what="Reading the samples…" />;
	const { layout } = scene;
	return (
		<>
			<div class="plot-row points-row" ref={area} style={{ height: height + 'px' }}>
				<div class="plot-name strips">
					{layout.strips.map((strip, i) => (
						<div
							key={i}
							class="strip-name cut"
							style={{ top: strip.top * 100 + '%', height: (strip.bottom - strip.top) * 100 + '%' }}
							title={`${strip.about}: ${formatCount(strip.points)} samples`}
						>
							{strip.label}
						</div>
					))}
				</div>
				<Canvas scene={scene} width={plotWidth.value + axisWidth.value} height={height} />
				<Tip scene={scene} stack={stack} area={area.current} />
			</div>
			<PointLegend scene={scene} />
		</>
	);
}

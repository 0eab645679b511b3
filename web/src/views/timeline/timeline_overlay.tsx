/* One sheet over all plots: cursor, brushes, flags, and input by pointer, fingers and keys. */
import { useEffect, useRef } from 'preact/hooks';
import type { Window } from '../../logic/address';
import { pointAt, type Flag, type Plot } from '../../logic/timeline/timeline_plots';
import { partAt, span, timeTicks, type Brush } from '../../logic/timeline/timeline_range';
import { formatDuration, formatTime, formatValue, formatWindow } from '../../logic/units';
import { brushes, cursor, plotWidth, visible, whole } from '../../state/timeline';
import { px } from '../../state/scale';
import {
	box,
	boxTool,
	followPan,
	followPointers,
	followWheel,
	timelineKey,
} from './timeline_gestures';
import './timeline_overlay.css';

function percent(part: number): string {
	return (part * 100).toFixed(3) + '%';
}

function place(w: Window): { left: string; width: string } {
	const range = visible.value;
	const left = Math.max(partAt(w.from, range), -0.01);
	const right = Math.min(partAt(w.to, range), 1.01);
	return { left: percent(left), width: percent(Math.max(right - left, 0)) };
}

function isOutside(w: Window): boolean {
	return w.to < visible.value.from || w.from > visible.value.to;
}

/** Width of a letter of small text. Labels must fit: half of a number would be a wrong one. */
const LETTER_PX = 7.5;

function BrushArea(props: { brush: Brush }) {
	const w = brushes.value[props.brush];
	if (!w || isOutside(w)) return null;
	const alone = props.brush === 'window' && !brushes.value.second;
	const name = alone ? '' : props.brush === 'window' ? 'A' : 'B';
	const text = `${name} ${formatDuration(span(w))}`;
	const room = (span(w) / span(visible.value)) * plotWidth.value;
	return (
		<div class={'brush ' + props.brush} style={place(w)}>
			<div class="brush-bar" data-grip={props.brush}>
				{text.length * px(LETTER_PX) < room ? text : name}
			</div>
		</div>
	);
}

function Cursor() {
	const ns = cursor.value;
	const range = visible.value;
	if (ns === null || ns < range.from || ns > range.to) return null;
	const part = partAt(ns, range);
	return (
		<div class="cursor" style={{ left: percent(part) }}>
			<span class={part > 0.85 ? 'cursor-time left' : 'cursor-time'}>
				{formatTime(ns, span(range) / 1000)}
			</span>
		</div>
	);
}

function Box() {
	const w = box.value;
	return w ? <div class="zoom-box" style={place(w)} /> : null;
}

/** The values at the cursor, for screen readers; announced while the timeline has the focus. */
function spoken(plots: Plot[]): string {
	const ns = cursor.value;
	if (ns === null) return '';
	const values = plots.map((plot) => {
		const at = pointAt(plot.t, ns);
		return `${plot.title} ${formatValue(plot.lines[0]?.mean[at], plot.unit)}`;
	});
	return `${formatTime(ns, span(visible.value) / 1000)}: ${values.join(', ')}`;
}

function Spoken(props: { plots: Plot[]; focused: () => boolean }) {
	const text = spoken(props.plots);
	return (
		<div class="visually-hidden" aria-live="polite">
			{props.focused() ? text : ''}
		</div>
	);
}

function label(): string {
	const { window: w, second } = brushes.value;
	const shown = `Timeline, showing ${formatWindow(visible.value.from, visible.value.to)}.`;
	const selected = w ? ` Window ${formatWindow(w.from, w.to)}.` : '';
	const other = second ? ` Second window ${formatWindow(second.from, second.to)}.` : '';
	return shown + selected + other;
}

const KEY_HELP =
	'Arrow keys move the cursor, + and - zoom, [ and ] set the ends of the window, { and } those of a second one, Escape clears.';

export function Overlay(props: { plots: Plot[] }) {
	const sheet = useRef<HTMLDivElement>(null);
	useEffect(() => {
		const stopPointers = followPointers(sheet.current!);
		const stopWheel = followWheel(sheet.current!);
		return () => {
			stopPointers();
			stopWheel();
		};
	}, []);
	return (
		<>
			<div
				ref={sheet}
				class={boxTool.value ? 'overlay boxing' : 'overlay'}
				role="application"
				aria-roledescription="timeline"
				aria-label={label()}
				aria-description={KEY_HELP}
				tabIndex={0}
				onKeyDown={timelineKey}
			>
				<BrushArea brush="window" />
				<BrushArea brush="second" />
				<Box />
				<Cursor />
			</div>
			<Spoken plots={props.plots} focused={() => document.activeElement === sheet.current} />
		</>
	);
}

const FLAG_NAMES: Record<Flag['kind'], string> = { lost: '!', throttled: '~', note: 'i' };

export function Flags(props: { flags: Flag[] }) {
	if (!props.flags.length) return null;
	return (
		<div class="flags">
			{props.flags.map((flag) => (
				<button
					key={flag.kind + flag.part}
					class={'flag ' + flag.kind}
					style={{ left: percent(flag.part) }}
					aria-label={flag.text}
					data-text={flag.text}
				>
					{FLAG_NAMES[flag.kind]}
				</button>
			))}
		</div>
	);
}

/** The label at the right of a tick; empty where it would be cut off. */
function timeLabel(ns: number, step: number): string {
	const text = formatTime(ns, step);
	const room = (1 - partAt(ns, visible.value)) * plotWidth.value;
	return text.length * px(LETTER_PX) < room ? text : '';
}

export function TimeAxis() {
	const axis = useRef<HTMLDivElement>(null);
	useEffect(() => {
		const stopPan = followPan(axis.current!);
		const stopWheel = followWheel(axis.current!);
		return () => {
			stopPan();
			stopWheel();
		};
	}, []);
	const range = visible.value;
	const { step, at } = timeTicks(range, plotWidth.value / 90);
	const zoomed = span(range) < span(whole.value) * 0.999;
	return (
		<div class="time-row">
			<div class="time-axis" ref={axis} aria-hidden="true" title="Drag to move along the time">
				{at.map((ns) => (
					<span key={ns} style={{ left: percent(partAt(ns, range)) }}>
						{timeLabel(ns, step)}
					</span>
				))}
				{zoomed && <div class="time-part" style={partOfWhole(range)} />}
			</div>
		</div>
	);
}

/** The visible part of the whole run, as a thin bar. */
function partOfWhole(range: Window): { left: string; width: string } {
	const all = whole.value;
	const left = partAt(range.from, all);
	return { left: percent(left), width: percent(Math.max(span(range) / span(all), 0.004)) };
}

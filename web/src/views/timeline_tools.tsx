/* Above the plots: what is selected, zooming, which plots are shown, live or paused. */
import { useEffect, useState } from 'preact/hooks';
import type { Plot as PlotKind } from '../logic/address';
import type { Plot } from '../logic/timeline_plots';
import { span, type Brush } from '../logic/timeline_range';
import { formatDuration, formatWindow, parseWindowText } from '../logic/units';
import { address, go } from '../state/address';
import { isLive, run } from '../state/runs';
import {
	backToLive,
	behind,
	brushes,
	clearBrush,
	following,
	hidden,
	pause,
	setBrush,
	toggleHidden,
	visible,
	whole,
	zoomTo,
} from '../state/timeline';
import { boxTool, zoomBy, zoomToWindow } from './timeline_gestures';

/** A window as text that can be changed. */
function WindowText(props: { brush: Brush; name: string }) {
	const w = brushes.value[props.brush];
	const text = w ? formatWindow(w.from, w.to) : '';
	const [typed, setTyped] = useState(text);
	const [wrong, setWrong] = useState(false);
	useEffect(() => {
		setTyped(text);
		setWrong(false);
	}, [text]);
	if (!w) return null;
	const commit = () => {
		if (typed === text) return;
		const parsed = parseWindowText(typed);
		setWrong(!parsed);
		if (parsed) setBrush(props.brush, parsed);
	};
	const what = props.brush === 'window' ? 'Window' : 'Second window';
	return (
		<span class={'window-text ' + props.brush}>
			{props.name && <b aria-hidden="true">{props.name}</b>}
			<input
				aria-label={what + ', from – to'}
				aria-invalid={wrong}
				title={wrong ? 'Write two times, like 1.5 s – 2 s' : 'Click to write the times'}
				value={typed}
				size={Math.max(typed.length, 8)}
				onInput={(e) => setTyped(e.currentTarget.value)}
				onBlur={commit}
				onKeyDown={(e) => {
					if (e.key === 'Enter') commit();
				}}
			/>
			<span class="dim number length">{formatDuration(span(w))}</span>
			<button
				class="plain clear"
				aria-label={'Clear the ' + what.toLowerCase()}
				title="Clear"
				onClick={() => clearBrush(props.brush)}
			>
				×
			</button>
		</span>
	);
}

function Windows() {
	const { window: w, second } = brushes.value;
	if (!w && !second)
		return (
			<div class="windows dim small">
				<span class="cut">Drag over the plots to select a window of time</span>
			</div>
		);
	return (
		<div class="windows">
			<WindowText brush="window" name={second ? 'A' : ''} />
			<WindowText brush="second" name="B" />
			{!second && <span class="dim small hint cut">Shift + drag selects a second one</span>}
		</div>
	);
}

function Zooms() {
	const zoomed = span(visible.value) < span(whole.value) * 0.999;
	const { window: w } = brushes.value;
	return (
		<div class="segments" role="group" aria-label="Zoom">
			<button title="Zoom out (−)" aria-label="Zoom out" onClick={() => zoomBy(2)}>
				−
			</button>
			<button title="Zoom in (+)" aria-label="Zoom in" onClick={() => zoomBy(0.5)}>
				+
			</button>
			<button
				title="Draw a box to zoom to (or Alt + drag)"
				aria-label="Draw a box to zoom to"
				aria-pressed={boxTool.value}
				onClick={() => (boxTool.value = !boxTool.value)}
			>
				⬚
			</button>
			<button
				title="Zoom to the window (Enter)"
				disabled={!w}
				onClick={zoomToWindow}
				aria-label="Zoom to the window"
			>
				↔
			</button>
			<button title="Show all of it (0)" disabled={!zoomed} onClick={() => zoomTo(null)}>
				All
			</button>
		</div>
	);
}

function Live() {
	const r = run.value;
	if (!r || !isLive(r)) return null;
	if (following.value)
		return (
			<button title="Hold the picture; measuring goes on" onClick={pause}>
				<span class="live-dot" aria-hidden="true" /> Live · Pause
			</button>
		);
	return (
		<button class="primary" title="Follow the run again" onClick={backToLive}>
			Back to live
			{behind.value > 0 && <span class="number">({formatDuration(behind.value)} behind)</span>}
		</button>
	);
}

const KINDS: [PlotKind, string, string][] = [
	['lines', 'Lines', 'Counters and samples a second'],
	['points', 'Points', 'Every sample by function'],
	['addresses', 'Addresses', 'Every sample by its address'],
];

function Kinds() {
	const kind = address.value.plot;
	return (
		<select
			aria-label="Kind of plot"
			title={KINDS.find(([name]) => name === kind)![2]}
			value={kind}
			onChange={(e) => go({ plot: e.currentTarget.value as PlotKind }, true)}
		>
			{KINDS.map(([name, text, title]) => (
				<option key={name} value={name} title={title}>
					{text}
				</option>
			))}
		</select>
	);
}

/** Which plots are shown. */
function Legend(props: { plots: Plot[] }) {
	if (props.plots.length < 2) return null;
	const shown = props.plots.filter((p) => !hidden.value.has(p.key)).length;
	return (
		<details class="menu">
			<summary class="button" title="Choose what is shown">
				Plots {shown}/{props.plots.length}
			</summary>
			<div class="popover menu-body" role="group" aria-label="Plots that are shown">
				{props.plots.map((plot) => (
					<label key={plot.key} class="menu-row">
						<input
							type="checkbox"
							checked={!hidden.value.has(plot.key)}
							onChange={() => toggleHidden(plot.key)}
						/>{' '}
						{plot.title}
					</label>
				))}
			</div>
		</details>
	);
}

export function Tools(props: { plots: Plot[]; hasSamples: boolean; save: preact.ComponentChild }) {
	return (
		<div class="timeline-tools">
			<Windows />
			<Live />
			{props.hasSamples && <Kinds />}
			<Zooms />
			<Legend plots={props.plots} />
			{props.save}
		</div>
	);
}

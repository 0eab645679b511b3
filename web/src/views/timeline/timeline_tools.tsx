/* Above the plots: what is selected, zooming, which plots are shown, live or paused. */
import { useEffect, useState } from 'preact/hooks';
import type { Plot as PlotKind } from '../../logic/address';
import type { Plot } from '../../logic/timeline/timeline_plots';
import { span, type Brush } from '../../logic/timeline/timeline_range';
import { formatDuration, formatWindow, parseWindowText } from '../../logic/units';
import { address, go } from '../../state/address';
import { useShortcut } from '../../state/keys';
import { isLive, run } from '../../state/runs';
import {
	backToLive,
	behind,
	brushes,
	clearBrush,
	following,
	hidden,
	pause,
	secondNext,
	setBrush,
	toggleHidden,
	visible,
	whole,
	zoomTo,
} from '../../state/timeline';
import { tell } from '../../state/toasts';
import { Popover } from '../parts/popover';
import { boxTool, zoomBy, zoomToWindow } from './timeline_gestures';

/** A window as editable text. */
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

/** Does what Shift does, for touch screens and for users who do not know that key. */
function Second() {
	const next = secondNext.value;
	return (
		<>
			<button
				class="second-next"
				aria-pressed={next}
				title="Select a second window (or Shift + drag)"
				onClick={() => (secondNext.value = !next)}
			>
				Compare
			</button>
			{next && <span class="dim small cut">Drag over the other part</span>}
		</>
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
			{!second && <Second />}
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
				class="with-mouse"
				title="Draw a box to zoom to (or Alt + drag)"
				aria-label="Draw a box to zoom to"
				aria-pressed={boxTool.value}
				onClick={() => (boxTool.value = !boxTool.value)}
			>
				⬚
			</button>
			<button
				class="with-mouse"
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
			<button class="of-live" title="Hold the picture; measuring goes on" onClick={pause}>
				<span class="live-dot" aria-hidden="true" />
				<span class="live-word">Live ·</span> Pause
			</button>
		);
	return (
		<button class="primary of-live" title="Follow the run again" onClick={backToLive}>
			Back to live
			{behind.value > 0 && (
				<span class="number behind">({formatDuration(behind.value)} behind)</span>
			)}
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

/** Chooses which plots are shown. */
function Legend(props: { plots: Plot[] }) {
	if (props.plots.length < 2) return null;
	const shown = props.plots.filter((p) => !hidden.value.has(p.key)).length;
	return (
		<Popover
			button={`Plots ${shown}/${props.plots.length}`}
			title="Choose what is shown"
			name="Plots that are shown"
			align="right"
		>
			{() => (
				<div class="plot-choice">
					{props.plots.map((plot) => (
						<label key={plot.key} class="plot-choice-row">
							<input
								type="checkbox"
								checked={!hidden.value.has(plot.key)}
								onChange={() => toggleHidden(plot.key)}
							/>
							{plot.title}
						</label>
					))}
				</div>
			)}
		</Popover>
	);
}

/** The writer is loaded when it is first needed. */
async function save(kind: 'png' | 'svg'): Promise<void> {
	const writer = await import('./timeline_save');
	await (kind === 'png' ? writer.savePng() : writer.saveSvg());
}

function Save() {
	return (
		<Popover button="Save" title="Save the timeline as a picture" name="Save" align="right">
			{(close) => (
				<div class="menu">
					{(['png', 'svg'] as const).map((kind) => (
						<button
							key={kind}
							onClick={() => {
								close();
								save(kind).catch(tell);
							}}
						>
							As {kind.toUpperCase()}
						</button>
					))}
				</div>
			)}
		</Popover>
	);
}

/** Entries of the sheet of keys; the overlay handles them while it has the focus. */
const SHEET = [
	['ArrowLeft ArrowRight', 'Move the cursor'],
	['Shift+ArrowLeft Shift+ArrowRight', 'Move along the time'],
	['+ -', 'Zoom in and out'],
	['0', 'Show all'],
	['[ ]', 'Begin and end of the window'],
	['{ }', 'Begin and end of the second window'],
	['Enter', 'Zoom to the window'],
	['Escape', 'Clear the windows'],
] as const;

function useSheet(): void {
	const where = 'Timeline';
	const focus = () => document.querySelector<HTMLElement>('.timeline .overlay')?.focus();
	useShortcut({ keys: 'w', what: 'Go to the timeline', where, run: focus });
	for (const [keys, what] of SHEET) useShortcut({ keys, what, where });
}

export function Tools(props: { plots: Plot[]; hasSamples: boolean }) {
	useSheet();
	return (
		<div class="timeline-tools">
			<Windows />
			<Live />
			{props.hasSamples && <Kinds />}
			<Zooms />
			{address.value.plot === 'lines' && <Legend plots={props.plots} />}
			{props.plots.length > 0 && <Save />}
		</div>
	);
}

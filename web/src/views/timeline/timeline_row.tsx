/* One plot and the text beside it: name, unit, and the value at the cursor or in the windows. */
import type { Window } from '../../logic/address';
import { meanIn, pointAt, type Plot } from '../../logic/timeline/timeline_plots';
import { formatShare, formatValue } from '../../logic/units';
import { brushes, cursor, visible } from '../../state/timeline';
import { colours } from './timeline_colours';
import { PlotCanvas } from './timeline_plot';

/** Number of lines named beside a plot; there may be a hundred CPUs. */
const NAMED_MAX = 3;

function colour(place: number): string {
	const all = colours.value.series;
	return all[place % all.length]!;
}

function Means(props: { plot: Plot }) {
	const { plot } = props;
	const { window: a, second: b } = brushes.value;
	const value = (w: Window) => formatValue(meanIn(plot, w), plot.unit);
	if (!a && !b)
		return (
			<>
				<span class="dim" title="The mean of what is shown">
					⌀ {value(visible.value)}
				</span>
				<Names plot={plot} />
			</>
		);
	return (
		<>
			{a && (
				<span class="in-a" title="The mean in the window">
					{b ? 'A ' : '⌀ '}
					{value(a)}
				</span>
			)}
			{b && (
				<span class="in-b" title="The mean in the second window">
					B {value(b)}
				</span>
			)}
		</>
	);
}

/** The names of the lines, if there is room for them. */
function Names(props: { plot: Plot }) {
	const { lines } = props.plot;
	if (lines.length < 2 || lines.length > NAMED_MAX) return null;
	return (
		<>
			{lines.map((line, i) => (
				<span key={i} style={{ color: colour(i) }}>
					{line.label}
				</span>
			))}
		</>
	);
}

function AtCursor(props: { plot: Plot; place: number; ns: number }) {
	const { plot } = props;
	const at = pointAt(plot.t, props.ns);
	const many = plot.lines.length > 1;
	const named = plot.lines.slice(0, NAMED_MAX);
	return (
		<>
			{named.map((line, i) => (
				<span key={i} class="at-cursor">
					{many && (
						<span style={{ color: colour(i) }} class="line-name">
							{line.label}{' '}
						</span>
					)}
					<b>{formatValue(line.mean[at], plot.unit)}</b>
				</span>
			))}
			{plot.lines.length > NAMED_MAX && (
				<span class="dim">and {plot.lines.length - NAMED_MAX} more lines</span>
			)}
		</>
	);
}

function Value(props: { plot: Plot; place: number }) {
	const ns = cursor.value;
	const shown = ns !== null && ns >= visible.value.from && ns <= visible.value.to;
	return (
		<div class="plot-value">
			{shown ? <AtCursor {...props} ns={ns} /> : <Means plot={props.plot} />}
		</div>
	);
}

export function PlotRow(props: { plot: Plot; place: number; width: number; height: number }) {
	const { plot, place } = props;
	return (
		<div class="plot-row">
			<div class="plot-name">
				<div class="plot-title cut" title={`${plot.title}: ${plot.unit.about}`}>
					{plot.lines.length === 1 && <span class="swatch" style={{ background: colour(place) }} />}
					{plot.title}
				</div>
				<Value plot={plot} place={place} />
				{plot.running < 1 && (
					<div
						class="plot-note"
						title="There are more events than counters: the kernel took turns, and the values are estimates there (marked below the line)."
					>
						counted {formatShare(plot.running)} of the time
					</div>
				)}
			</div>
			<PlotCanvas {...props} />
		</div>
	);
}

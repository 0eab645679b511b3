/* Distribution of the values of a counter, or of the weights of samples. */
import { useState } from 'preact/hooks';
import type { Query } from '../../api/client';
import type { Timeline, ValueHistogram } from '../../api/types';
import { plural } from '../../logic/format';
import { choiceKey, choicesOf, chosenOf, type Choice } from '../../logic/tables/histogram';
import { formatDuration, formatShare, formatAmount, sumUnit, type Unit } from '../../logic/units';
import { address, go } from '../../state/address';
import { useQuestion, type Question } from '../../state/questions';
import { isLive, run } from '../../state/runs';
import { selected } from '../../state/selection';
import { HistogramPlot } from './histogram_plot';
import { NoAnswer } from '../parts/no_answer';
import { Empty, Loading } from '../parts/states';
import { useSize } from '../parts/use_size';
import './histogram.css';

/** As many bins as can be told apart; in steps, so that resizing seldom asks the server. */
export function binsFor(width: number): number {
	return Math.min(120, Math.max(20, Math.round(width / 200) * 20));
}

/** Counters are not counted by function or event: these filters do not apply to them. */
const NOT_OF_COUNTERS = { event: null, frames: null };

function questionOf(choice: Choice | null, width: number): Question | null {
	if (!choice || !width) return null;
	const more: Query = { bins: binsFor(width), scale: address.value.logx ? 'log' : 'linear' };
	if (choice.kind === 'weight') return selected('histogram', { ...more, weight: choice.name });
	return selected('histogram', { ...more, ...NOT_OF_COUNTERS, counter: choice.name });
}

export function HistogramView() {
	const { ref, width } = useSize<HTMLDivElement>();
	return (
		<div class="histogram-view" ref={ref}>
			<Chosen width={width} />
		</div>
	);
}

function Chosen(props: { width: number }) {
	// One point is enough: only the counters and their units are needed.
	const counters = useQuestion<Timeline>(() =>
		selected('timeline', { pixels: 1, ...NOT_OF_COUNTERS }),
	);
	const lines = counters.value.data?.counters;
	if (counters.value.error && !lines) return <NoAnswer error={counters.value.error} />;
	if (!lines) return <Loading what="Looking for counters…" />;
	const sampled = run.value && (run.value.samples || isLive(run.value));
	const choices = choicesOf(lines, sampled ? run.value!.opened_events : null);
	const choice = chosenOf(choices, address.value.counter);
	if (!choice)
		return (
			<Empty title="Nothing to show">
				<p>This run has neither counters nor samples. “Details” says what went wrong.</p>
			</Empty>
		);
	return <OfChoice choices={choices} choice={choice} width={props.width} />;
}

function OfChoice(props: { choices: Choice[]; choice: Choice; width: number }) {
	const { choices, choice, width } = props;
	const [asTable, setAsTable] = useState(false);
	const answer = useQuestion<ValueHistogram>(() => {
		// The address is read here, so that its changes ask again.
		const now = chosenOf(choices, address.value.counter);
		return questionOf(now, width);
	});
	const { data, error, of } = answer.value;
	// Until the new answer arrives, the old one is shown with its own name and unit.
	const shown =
		choices.find((c) => c.name === (c.kind === 'weight' ? of?.query.weight : of?.query.counter)) ??
		choice;
	const unit = sumUnit(shown.unit, 1);
	return (
		<>
			<Tools choices={choices} choice={choice} asTable={asTable} setAsTable={setAsTable} />
			{error ? (
				<NoAnswer error={error} />
			) : !data ? (
				<Loading what="Sorting values…" />
			) : !data.count ? (
				<Empty title="No values here">
					<p>Nothing was {shown.kind === 'weight' ? 'sampled' : 'counted'} in this window.</p>
				</Empty>
			) : (
				<>
					<HistogramSummary
						histogram={data}
						what={countedOf(data, shown)}
						unit={unit}
						alike={shown.kind === 'weight' ? ONE_WEIGHT : undefined}
					/>
					{asTable ? (
						<BinTable histogram={data} unit={unit} />
					) : (
						<HistogramPlot
							histogram={data}
							axes={{ logx: of?.query.scale === 'log', logy: address.value.logy }}
							unit={unit}
							name={shown.name}
							what={shown.kind === 'weight' ? 'sample' : 'interval'}
							width={width}
						/>
					)}
				</>
			)}
		</>
	);
}

function Tools(props: {
	choices: Choice[];
	choice: Choice;
	asTable: boolean;
	setAsTable: (on: boolean) => void;
}) {
	const { choices, choice } = props;
	const group = (kind: Choice['kind'], label: string) => {
		const of = choices.filter((c) => c.kind === kind);
		return (
			of.length > 0 && (
				<optgroup label={label}>
					{of.map((c) => (
						<option key={choiceKey(c)} value={choiceKey(c)}>
							{c.name}
						</option>
					))}
				</optgroup>
			)
		);
	};
	return (
		<div class="histogram-tools">
			<label>
				<span class="visually-hidden">Values of</span>
				<select
					value={choiceKey(choice)}
					onChange={(e) => go({ counter: e.currentTarget.value }, true)}
				>
					{group('counter', 'Counters, in each interval')}
					{group('weight', 'Weights of samples')}
				</select>
			</label>
			<HistogramButtons asTable={props.asTable} setAsTable={props.setAsTable} />
		</div>
	);
}

/** How a histogram is drawn. */
export function HistogramButtons(props: { asTable: boolean; setAsTable: (on: boolean) => void }) {
	const { asTable } = props;
	const { logx, logy } = address.value;
	return (
		<>
			<button
				aria-pressed={logx}
				title="Equal steps to the right are equal ratios: for values of very different size"
				onClick={() => go({ logx: !logx }, true)}
			>
				log x
			</button>
			<button
				aria-pressed={logy}
				disabled={asTable}
				title="Low bars become visible beside high ones"
				onClick={() => go({ logy: !logy }, true)}
			>
				log y
			</button>
			<button aria-pressed={asTable} onClick={() => props.setAsTable(!asTable)}>
				Table
			</button>
		</>
	);
}

/** What was counted, as the summary names it. */
function countedOf(h: ValueHistogram, choice: Choice): string {
	if (choice.kind === 'weight') return `${plural(h.count, 'sample')} of ${choice.name}`;
	const interval = run.value?.interval;
	const each = interval ? ` of ${formatDuration(interval * 1e9)}` : '';
	return `${choice.name} in ${plural(h.count, 'interval')}${each}`;
}

const ONE_WEIGHT = 'Samples at a fixed frequency of a clock weigh the same.';

/** The key figures of a histogram. @what was counted; @alike explains why all values are the same. */
export function HistogramSummary(props: {
	histogram: ValueHistogram;
	what: string;
	unit: Unit;
	alike?: string;
}) {
	const { histogram: h, what, unit } = props;
	const f = (v: number) => formatAmount(v, unit);
	if (h.min === h.max)
		return (
			<p class="histogram-summary small">
				<strong>{what}:</strong> all are {f(h.min)}.{props.alike && ' ' + props.alike}
			</p>
		);
	const stats: [string, string][] = [
		['least', f(h.min)],
		['mean', f(h.mean)],
		['half are below', f(h.p50)],
		['90 % below', f(h.p90)],
		['99 % below', f(h.p99)],
		['99.9 % below', f(h.p999)],
		['most', f(h.max)],
	];
	return (
		<p class="histogram-summary small">
			<strong>{what}</strong>
			{stats.map(([name, value]) => (
				<span key={name}>
					<span class="dim">{name}</span> {value}
				</span>
			))}
		</p>
	);
}

export function BinTable(props: { histogram: ValueHistogram; unit: Unit }) {
	const { histogram: h, unit } = props;
	let below = 0;
	return (
		<div class="histogram-table" tabIndex={0} role="region" aria-label="Values as a table">
			<table>
				<thead>
					<tr>
						<th scope="col" class="number">
							From
						</th>
						<th scope="col" class="number">
							To
						</th>
						<th scope="col" class="number">
							How many
						</th>
						<th scope="col" class="number">
							Share
						</th>
						<th scope="col" class="number">
							Share up to here
						</th>
					</tr>
				</thead>
				<tbody>
					{h.bins.map((b) => {
						below += b.count;
						return (
							<tr key={b.from}>
								<td class="number">{formatAmount(b.from, unit)}</td>
								<td class="number">{formatAmount(b.to, unit)}</td>
								<td class="number">{b.count.toLocaleString('en')}</td>
								<td class="number">{formatShare(b.count / h.count)}</td>
								<td class="number">{formatShare(below / h.count)}</td>
							</tr>
						);
					})}
				</tbody>
			</table>
		</div>
	);
}

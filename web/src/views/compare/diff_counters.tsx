/* Counters of both sides: how many a second, how much that varies, and what has changed. The server
 * says which changes are larger than chance. */
import type { CounterChange, CounterRates, DiffCounters as Answer } from '../../api/types';
import { directionOf, formatRelative } from '../../logic/tables/change';
import { intervalOf, sidesOf, type Side } from '../../logic/tables/compare';
import { formatAmount, formatValue, rateUnit, sumUnit } from '../../logic/units';
import { address } from '../../state/address';
import { useQuestion } from '../../state/questions';
import { isLive, runOf } from '../../state/runs';
import { LIVE_AGAIN_MS, sideQuery } from '../../state/selection';
import { NoAnswer } from '../parts/no_answer';
import { Empty, Loading } from '../parts/states';

function goesOn(side: Side): boolean {
	const r = runOf(side.run);
	return !!r && isLive(r);
}

export function DiffCounters() {
	const answer = useQuestion<Answer>(() => {
		const sides = sidesOf(address.value);
		if (!sides) return null;
		const { before, after } = sides;
		return {
			path: 'diff/counters',
			query: {
				before: before.run,
				after: after.run,
				...sideQuery('before', before.window),
				...sideQuery('after', after.window),
			},
			again: goesOn(before) || goesOn(after) ? LIVE_AGAIN_MS : undefined,
		};
	});
	const { data, error } = answer.value;
	if (!data) return error ? <NoAnswer error={error} /> : <Loading what="Comparing counters…" />;
	const { counters: changes, confidence } = data;
	if (!changes.length)
		return (
			<Empty title="No counters">
				<p>Neither side has counters. Run with “Count” or “Both” to have some.</p>
			</Empty>
		);
	return (
		<div class="diff-counters" tabIndex={0} role="region" aria-label="Counters compared">
			<table>
				<thead>
					<tr>
						<th scope="col">Counter</th>
						<th scope="col" class="number" title="Mean, and how much single values vary around it">
							A, a second
						</th>
						<th scope="col" class="number" title="Mean, and how much single values vary around it">
							B, a second
						</th>
						<th scope="col" class="number">
							Change
						</th>
						<th scope="col" class="number">
							In all, A
						</th>
						<th scope="col" class="number">
							In all, B
						</th>
						<th scope="col" class="number">
							Change
						</th>
					</tr>
				</thead>
				<tbody>
					{changes.map((c) => (
						<CounterRow key={c.name} change={c} />
					))}
				</tbody>
			</table>
			<p class="small dim">
				± behind a mean says how much the counter varies over time (standard deviation); ± below a
				change is half of its {confidence * 100} % interval. A change marked by ≈ may be chance: 0
				is in its interval. All this knows only how a counter varies within a run; to see how much
				runs vary, run it several times.
			</p>
		</div>
	);
}

function CounterRow(props: { change: CounterChange }) {
	const c = props.change;
	const rate = rateUnit(c.name, c.unit, c.scale);
	const sum = sumUnit(c.unit, c.scale);
	const mean = (r: CounterRates | null) =>
		r ? (
			<>
				{formatValue(r.mean, rate)}
				{r.stddev !== null && <span class="dim"> ± {formatValue(r.stddev, rate)}</span>}
			</>
		) : (
			<span class="dim">not counted</span>
		);
	const all = (r: CounterRates | null) => (r ? formatAmount(r.sum, sum) : '–');
	return (
		<tr>
			<th scope="row">{c.name}</th>
			<td class="number">{mean(c.before)}</td>
			<td class="number">{mean(c.after)}</td>
			<td class="number">
				<Relative before={c.before?.mean} after={c.after?.mean} />
				<Certainty change={c} />
			</td>
			<td class="number">{all(c.before)}</td>
			<td class="number">{all(c.after)}</td>
			<td class="number">
				<Relative before={c.before?.sum} after={c.after?.sum} />
			</td>
		</tr>
	);
}

/** Marks changes that may be chance, else shows half of the interval. The tip has both ends. */
function Certainty(props: { change: CounterChange }) {
	const { before, after, verdict } = props.change;
	if (!before || !after) return null;
	const interval = intervalOf(props.change);
	const tip = interval ? `The change is in ${interval.ends}` : undefined;
	if (verdict === 'more' || verdict === 'less')
		return interval ? (
			<span class="dim small diff-interval" title={tip}>
				± {interval.half}
			</span>
		) : null;
	const why = verdict === 'unclear' ? 'May be chance' : 'Too few readings to tell it from chance';
	return (
		<span class="dim small" title={[why, tip].filter(Boolean).join('. ')}>
			{' '}
			≈
		</span>
	);
}

function Relative(props: { before: number | undefined; after: number | undefined }) {
	const { before, after } = props;
	if (before === undefined || after === undefined) return <span class="dim">–</span>;
	const part = before ? (after - before) / Math.abs(before) : after ? 1 : 0;
	return <span class={'change-' + directionOf(part)}>{formatRelative(before, after)}</span>;
}

/* Counters of both sides: how many a second, how much that varies, and what has changed. */
import { useMemo } from 'preact/hooks';
import type { Timeline } from '../../api/types';
import { directionOf, formatRelative } from '../../logic/tables/change';
import {
	compareCounters,
	sidesOf,
	type CounterChange,
	type Rate,
	type Side,
} from '../../logic/tables/compare';
import { formatAmount, formatValue, rateUnit, sumUnit } from '../../logic/units';
import { address } from '../../state/address';
import { useQuestion, type Question } from '../../state/questions';
import { isLive, runOf } from '../../state/runs';
import { LIVE_AGAIN_MS, windowQuery } from '../../state/selection';
import { NoAnswer } from '../parts/no_answer';
import { Empty, Loading } from '../parts/states';

/** Fine enough to see how much values vary. */
const PIXELS = 200;

function question(side: Side | undefined): Question | null {
	if (!side) return null;
	const r = runOf(side.run);
	return {
		path: `benchmark/${side.run}/timeline`,
		query: { ...windowQuery(side.window), pixels: PIXELS },
		again: r && isLive(r) ? LIVE_AGAIN_MS : undefined,
	};
}

export function DiffCounters() {
	const before = useQuestion<Timeline>(() => question(sidesOf(address.value)?.before));
	const after = useQuestion<Timeline>(() => question(sidesOf(address.value)?.after));
	const [b, a] = [before.value, after.value];
	const changes = useMemo(
		() => (b.data && a.data ? compareCounters(b.data, a.data) : null),
		[b.data, a.data],
	);
	const error = b.error ?? a.error;
	if (!changes) return error ? <NoAnswer error={error} /> : <Loading what="Comparing counters…" />;
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
				± says how much values vary over time (standard deviation). A change marked by ≈ is smaller
				than that and may be chance: run it several times.
			</p>
		</div>
	);
}

function CounterRow(props: { change: CounterChange }) {
	const c = props.change;
	const rate = rateUnit(c.name, c.unit, c.scale);
	const sum = sumUnit(c.unit, c.scale);
	const mean = (r: Rate | null) =>
		r ? (
			<>
				{formatValue(r.mean, rate)} <span class="dim">± {formatValue(r.spread, rate)}</span>
			</>
		) : (
			<span class="dim">not counted</span>
		);
	const all = (r: Rate | null) => (r ? formatAmount(r.sum, sum) : '–');
	return (
		<tr>
			<th scope="row">{c.name}</th>
			<td class="number">{mean(c.before)}</td>
			<td class="number">{mean(c.after)}</td>
			<td class="number">
				<Relative before={c.before?.mean} after={c.after?.mean} />
				{c.before && c.after && !c.clear && (
					<span class="dim small" title="The change is smaller than values vary">
						{' '}
						≈
					</span>
				)}
			</td>
			<td class="number">{all(c.before)}</td>
			<td class="number">{all(c.after)}</td>
			<td class="number">
				<Relative before={c.before?.sum} after={c.after?.sum} />
			</td>
		</tr>
	);
}

function Relative(props: { before: number | undefined; after: number | undefined }) {
	const { before, after } = props;
	if (before === undefined || after === undefined) return <span class="dim">–</span>;
	const part = before ? (after - before) / Math.abs(before) : after ? 1 : 0;
	return <span class={'change-' + directionOf(part)}>{formatRelative(before, after)}</span>;
}

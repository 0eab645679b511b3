/* What has changed: between two windows of a run, or between two runs. */
import { useMemo } from 'preact/hooks';
import type { Diff } from '../../api/types';
import { DIFF_PARTS, type DiffPart } from '../../logic/address';
import { sidesOf } from '../../logic/tables/compare';
import { address, go } from '../../state/address';
import { useQuestion } from '../../state/questions';
import { isLive, runOf } from '../../state/runs';
import { compared, comparison, LIVE_AGAIN_MS } from '../../state/selection';
import { DiffCounters } from './diff_counters';
import { DiffFlame } from './diff_flame';
import { DiffFunctions } from './diff_functions';
import { DiffHead } from './diff_head';
import { NothingToCompare } from './diff_choice';
import { EventChoice } from '../new_run/event_choice';
import { NoAnswer } from '../parts/no_answer';
import { Empty, Loading } from '../parts/states';
import '../parts/change.css';
import './diff.css';

const NAMES: Record<DiffPart, string> = {
	flame: 'Flame graph',
	functions: 'Functions',
	counters: 'Counters',
};

/** The largest number of functions that the server returns. */
const LIMIT = 1000;

export function DiffView() {
	const answer = useQuestion<Diff>(() => {
		const query = comparison.value;
		const sides = sidesOf(address.value);
		if (!query || !sides) return null;
		const live = [sides.before, sides.after].some((s) => {
			const r = runOf(s.run);
			return r && isLive(r);
		});
		return {
			path: 'diff',
			query: { ...query, limit: LIMIT },
			columns: true,
			again: live ? LIVE_AGAIN_MS : undefined,
		};
	});
	const sides = useMemo(() => sidesOf(address.value), [address.value]);
	if (!sides) return <NothingToCompare />;
	return (
		<div class="diff-view">
			<DiffHead sides={sides} diff={answer.value.data} />
			<PartChoice diff={answer.value.data} />
			<Body diff={answer.value.data} error={answer.value.error} />
		</div>
	);
}

/** The events that are compared, where the choice does not show them. */
function ComparedBy(props: { diff: Diff | null }) {
	const { event: chosen } = address.value;
	const { events } = compared.value;
	const [before, event] = [props.diff?.event_before ?? null, props.diff?.event_after ?? null];
	if (before && event && before !== event)
		return (
			<span class="small dim diff-by">
				{before} before, {event} after: they have no event in common
			</span>
		);
	if (chosen && event && chosen !== event)
		return (
			<span class="small dim diff-by">
				By {event}, because only one side has samples of {chosen}
			</span>
		);
	if (events.length === 1) return <span class="small dim diff-by">Samples of {events[0]}</span>;
	return null;
}

function PartChoice(props: { diff: Diff | null }) {
	const { diff: part, search } = address.value;
	return (
		<div class="diff-tools">
			<div class="segments" role="group" aria-label="What to compare">
				{DIFF_PARTS.map((name) => (
					<button key={name} aria-pressed={part === name} onClick={() => go({ diff: name }, true)}>
						{NAMES[name]}
					</button>
				))}
			</div>
			{part !== 'counters' && (
				<>
					<EventChoice
						events={compared.value.events}
						event={compared.value.event ?? props.diff?.event_after ?? null}
					/>
					<ComparedBy diff={props.diff} />
				</>
			)}
			{part === 'flame' && (
				<input
					type="search"
					value={search ?? ''}
					placeholder="Find a function"
					aria-label="Mark functions with this text, or /regular expression/"
					onInput={(e) => go({ search: e.currentTarget.value || null }, true)}
				/>
			)}
		</div>
	);
}

function Body(props: { diff: Diff | null; error: Error | null }) {
	const { diff, error } = props;
	const { diff: part } = address.value;
	if (part === 'counters') return <DiffCounters />;
	if (error && !diff) return <NoAnswer error={error} />;
	if (!diff) return <Loading what="Comparing…" />;
	if (!diff.samples_before && !diff.samples_after)
		return (
			<Empty title="Neither side has samples">
				<p>Functions can be compared where both were sampled. Counters can be compared anyway.</p>
				<button onClick={() => go({ diff: 'counters' }, true)}>Compare counters</button>
			</Empty>
		);
	return part === 'flame' ? <DiffFlame diff={diff} /> : <DiffFunctions diff={diff} />;
}

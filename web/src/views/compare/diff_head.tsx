/* What is compared with what, in numbers. */
import type { Diff } from '../../api/types';
import { directionOf, formatRelative } from '../../logic/tables/change';
import { swapped, type Side, type Sides } from '../../logic/tables/compare';
import { weightText, weightUnit } from '../../logic/flame/flame_words';
import { plural } from '../../logic/format';
import { runName } from '../../logic/run/run_words';
import { formatDuration, formatWindow } from '../../logic/units';
import { address, go } from '../../state/address';
import { runOf } from '../../state/runs';
import { RunChoice } from './diff_choice';

/** Length of a side, ns; null: not known yet. */
function lengthOf(side: Side): number | null {
	if (side.window) return side.window.to - side.window.from;
	const r = runOf(side.run);
	if (r?.import) return null;
	const seconds = r?.duration_s ?? r?.progress?.elapsed_s;
	return seconds ? seconds * 1e9 : null;
}

function weightWords(weight: number, unit: string | null): string {
	return weightText(weight, unit) + (unit === 'ns' ? ' CPU time' : '');
}

export function DiffHead(props: { sides: Sides; diff: Diff | null }) {
	const { sides, diff } = props;
	const [before, after] = [lengthOf(sides.before), lengthOf(sides.after)];
	return (
		<div class="diff-head">
			<SideHead
				sides={sides}
				which="before"
				samples={diff?.samples_before}
				weight={diff?.total_before}
				event={diff?.event_before ?? null}
			/>
			<button
				class="diff-swap"
				title="Exchange before and after"
				onClick={() => go(swapped(address.value, sides.of))}
			>
				<span aria-hidden="true">⇄</span> Swap
			</button>
			<SideHead
				sides={sides}
				which="after"
				samples={diff?.samples_after}
				weight={diff?.total_after}
				event={diff?.event_after ?? null}
			/>
			{sides.of === 'runs' && before !== null && after !== null && (
				<p class="diff-time small">
					Time:{' '}
					<strong class={'change-' + directionOf((after - before) / before)}>
						{formatRelative(before, after)}
					</strong>
				</p>
			)}
		</div>
	);
}

function SideHead(props: {
	sides: Sides;
	which: 'before' | 'after';
	samples: number | undefined;
	weight: number | undefined;
	event: string | null;
}) {
	const { sides, which, samples, weight } = props;
	const side = sides[which];
	const r = runOf(side.run);
	const length = lengthOf(side);
	const title = which === 'before' ? 'Before' : 'After';
	const pin = which === 'before' ? 'a' : 'b';
	const facts = [
		// The bar in the timeline already shows the length of a window.
		side.window
			? formatWindow(side.window.from, side.window.to)
			: length !== null && formatDuration(length),
		samples !== undefined && plural(samples, 'sample'),
		weight ? weightWords(weight, weightUnit(props.event, null)) : null,
	].filter(Boolean);
	return (
		<div class={`diff-side is-${which}`}>
			<span class="diff-badge">{`${title}: ${pin.toUpperCase()}`}</span>
			{sides.of === 'runs' ? (
				<RunChoice pin={pin} label={`${title}: run ${pin.toUpperCase()}`} hidden />
			) : (
				<span class="cut">
					{which === 'before' ? 'first window' : 'second window'} of {r ? runName(r) : 'this run'}
				</span>
			)}
			<span class="small dim">{facts.join(' · ') || '…'}</span>
		</div>
	);
}

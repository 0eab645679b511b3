/* The differential as a flame graph: red has a larger share after, blue a smaller one. */
import { useMemo, useState } from 'preact/hooks';
import type { Diff } from '../../api/types';
import { legendOf } from '../../logic/flame/flame_colours';
import { layOutDiff, type DiffWidth } from '../../logic/flame/flame_diff';
import { weightUnit } from '../../logic/flame/flame_words';
import { address, go } from '../../state/address';
import { rootPlace } from '../../state/flame';
import { dark } from '../../state/theme';
import { flameActions } from '../flame/flame_actions';
import { FlameCanvas } from '../flame/flame_canvas';

const WIDTHS: [DiffWidth, string, string][] = [
	[
		'both',
		'both',
		'Boxes are as broad as their share of both sides: nothing that exists is left out',
	],
	['before', 'before', 'Boxes are as broad as their share before'],
	['after', 'after', 'Boxes are as broad as their share after'],
];

export function DiffFlame(props: { diff: Diff }) {
	const { diff } = props;
	const [width, setWidth] = useState<DiffWidth>('both');
	const { focus, search } = address.value;
	const unit = weightUnit(diff.event_after, null);
	const graph = useMemo(() => layOutDiff(diff, unit, width), [diff, unit, width]);
	return (
		<div class="diff-flame">
			<FlameCanvas
				graph={graph}
				label="Flame graph of what has changed"
				colour="change"
				root={rootPlace.value}
				focus={focus}
				onFocus={(path) => go({ focus: path }, true)}
				search={search}
				actions={flameActions}
			/>
			<div class="diff-foot small">
				<span class="dim">Width of boxes:</span>
				<div class="segments" role="group" aria-label="Width of boxes">
					{WIDTHS.map(([name, text, about]) => (
						<button
							key={name}
							aria-pressed={width === name}
							title={about}
							onClick={() => setWidth(name)}
						>
							{text}
						</button>
					))}
				</div>
				<span class="dim diff-points">pts: percentage points of all samples</span>
				<ul class="diff-legend" aria-label="Colours">
					{legendOf(graph, 'change', dark.value).map(({ label, note, colour, striped }) => (
						<li key={label} title={note}>
							<span
								class={striped ? 'diff-swatch is-striped' : 'diff-swatch'}
								style={{ backgroundColor: colour }}
							/>
							{label}
						</li>
					))}
				</ul>
			</div>
		</div>
	);
}

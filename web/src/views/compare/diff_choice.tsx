/* Shown while there is nothing to compare: the two ways to choose. */
import type { Run } from '../../api/types';
import { clockTime, plural } from '../../logic/format';
import { runName } from '../../logic/run/run_words';
import { address, go } from '../../state/address';
import { run, runOf, runs } from '../../state/runs';

/** Chooses a run of the session; a run of another session is listed while it is chosen. */
export function RunChoice(props: { pin: 'a' | 'b'; label: string; hidden?: boolean }) {
	const { pin } = props;
	const chosen = address.value[pin];
	const foreign = chosen && !runs.value.some((r) => r.uuid === chosen) ? runOf(chosen) : null;
	const now = new Date();
	const option = (r: Run) => (
		<option key={r.uuid} value={r.uuid}>
			{clockTime(r.created_at, now)} {runName(r).slice(0, 80)}
		</option>
	);
	return (
		<label class="run-choice">
			<span class={props.hidden ? 'visually-hidden' : 'small'}>{props.label}</span>
			<select
				value={chosen ?? ''}
				onChange={(e) => go({ [pin]: e.currentTarget.value || null, second: null })}
			>
				<option value="">choose a run</option>
				{foreign && option(foreign)}
				{runs.value.map(option)}
			</select>
		</label>
	);
}

export function NothingToCompare() {
	const { a, window } = address.value;
	const r = run.value;
	return (
		<div class="diff-choice">
			<section>
				<h2>Compare two windows</h2>
				<ol>
					<li class={window ? 'is-done' : ''}>
						Drag over the timeline to select a window{window ? ': done' : ''}.
					</li>
					<li>
						Hold <kbd>Shift</kbd> and drag over another one, or press Compare and drag.
					</li>
				</ol>
				<p class="small dim">What takes more in the second one is red, what takes less is blue.</p>
			</section>
			<section>
				<h2>Compare two runs</h2>
				{runs.value.length < 2 ? (
					<p>
						This session has {plural(runs.value.length, 'run')}. Change something and run it again,
						then compare both here.
					</p>
				) : (
					<>
						<div class="diff-choice-runs">
							<RunChoice pin="a" label="A, before" />
							<RunChoice pin="b" label="B, after" />
						</div>
						{r && a !== r.uuid && (
							<button onClick={() => go({ a: r.uuid, second: null })}>Take this run as A</button>
						)}
					</>
				)}
			</section>
		</div>
	);
}

/* One run of the list. */
import { useState } from 'preact/hooks';
import type { Run } from '../../api/types';
import { clockTime, quoted } from '../../logic/format';
import { runName, runTrouble, STATE_WORDS } from '../../logic/run/run_words';
import { formatCount, formatDuration } from '../../logic/units';
import { address, follow, go, link } from '../../state/address';
import { now, useNow } from '../../state/now';
import { runSearch } from '../../state/run_search';
import { isLive } from '../../state/runs';
import { RunEdit } from '../run/run_edit';
import { RunMenu } from '../run/run_menu';
import { StateSign } from '../run/run_state';
import { Sparkline } from '../parts/sparkline';

function durationOf(run: Run): string {
	// The time it took to read an import says nothing about what was measured.
	if (run.import && !isLive(run)) return 'imported';
	if (run.duration_s !== null) return formatDuration(run.duration_s * 1e9);
	if (!run.started_at || !isLive(run)) return '';
	const seconds = Math.floor((now.value - Date.parse(run.started_at)) / 1000);
	return formatDuration(Math.max(seconds, 0) * 1e9);
}

function Facts(props: { run: Run }) {
	const { run } = props;
	useNow(isLive(run));
	const facts = [
		clockTime(run.created_at, new Date(now.value)),
		run.state === 'queued' ? STATE_WORDS.queued : durationOf(run),
	];
	return (
		<span
			class="small facts"
			title={run.samples ? `${formatCount(run.samples)} samples` : undefined}
		>
			{facts.filter(Boolean).join(' · ')}
		</span>
	);
}

const SIDES = { a: 'the one before', b: 'the one after' } as const;

function Pin(props: { side: 'a' | 'b'; run: Run }) {
	const { side, run } = props;
	const pinned = address.value[side] === run.uuid;
	const letter = side.toUpperCase();
	return (
		<button
			type="button"
			class={'pin ' + side}
			aria-pressed={pinned}
			aria-label={`${pinned ? 'Unpin' : 'Pin'} ${runName(run)} as ${letter}`}
			title={pinned ? 'Unpin' : `Pin as ${letter}, ${SIDES[side]}, to compare two runs`}
			onClick={() => go({ [side]: pinned ? null : run.uuid }, true)}
		>
			{letter}
		</button>
	);
}

function Words(props: { run: Run }) {
	const { run } = props;
	const trouble = runTrouble(run);
	return (
		<>
			{trouble && <p class="small bad run-trouble">{trouble}</p>}
			{run.note && (
				<p class="small note-text" title={run.note}>
					{run.note}
				</p>
			)}
			{run.tags.length > 0 && (
				<div class="tags">
					{run.tags.map((tag) => (
						<button
							key={tag}
							type="button"
							class="chip"
							title={`Only runs with ${quoted(tag)}`}
							onClick={() => (runSearch.value = tag)}
						>
							{tag}
						</button>
					))}
				</div>
			)}
		</>
	);
}

export function RunRow(props: { run: Run }) {
	const { run } = props;
	const [editing, setEditing] = useState(false);
	const open = address.value.run === run.uuid;
	return (
		<li class={open ? 'run-row open' : 'run-row'}>
			<div class="run-head">
				<StateSign run={run} />
				<a
					class="cut"
					href={link({ run: run.uuid })}
					onClick={follow({ run: run.uuid })}
					aria-current={open ? 'true' : undefined}
					title={runName(run)}
				>
					{runName(run)}
				</a>
				<RunMenu run={run} edit={() => setEditing(true)} />
			</div>
			<div class="run-line">
				<Facts run={run} />
				<Sparkline run={run} />
				<Pin side="a" run={run} />
				<Pin side="b" run={run} />
			</div>
			{editing ? <RunEdit run={run} close={() => setEditing(false)} /> : <Words run={run} />}
		</li>
	);
}

/* The line above the timeline: which run this is, its outcome, and its actions. */
import type { Ledger, LedgerEntry, Run } from '../../api/types';
import { plural } from '../../logic/format';
import { outcomeOf, runName, runTrouble, STATE_WORDS } from '../../logic/run/run_words';
import { formatCount, formatDuration } from '../../logic/units';
import { address, follow, link } from '../../state/address';
import { useShortcut } from '../../state/keys';
import { useLastWords } from '../../state/last_words';
import { liveRun } from '../../state/live';
import { now, useNow } from '../../state/now';
import { cancelRun, hasEnded, isLive, rerun } from '../../state/runs';
import { mayChange, mayRun } from '../../state/server';
import { copyLink, toggleFull } from '../../state/share';
import { Icon } from '../parts/icons';
import { StateSign } from './run_state';
import './run_bar.css';

function seconds(r: Run): number | null {
	if (r.state === 'running' && r.started_at)
		return Math.max(0, (now.value - Date.parse(r.started_at)) / 1000);
	return r.duration_s;
}

/** The newest ledger of a live run, from its stream; read again every second. */
function newestLedger(r: Run): Ledger | null {
	void now.value;
	return liveRun(r.uuid).ledger ?? r.ledger;
}

/** Warnings about a run's data that are shown beside its name. */
function labelled(ledger: Ledger | null): LedgerEntry[] {
	return ledger?.warnings?.filter((w) => w.words) ?? [];
}

function Facts(props: { run: Run }) {
	const r = props.run;
	const s = seconds(r);
	const place = r.progress?.place ?? 0;
	const ledger = isLive(r) ? newestLedger(r) : r.ledger;
	const samples = r.samples || (ledger?.samples ?? 0);
	return (
		<p class="run-facts small">
			<StateSign run={r} />
			<strong>{STATE_WORDS[outcomeOf(r)]}</strong>
			{r.state === 'queued' && place > 0 && <span>place {place} in the queue</span>}
			{r.import && hasEnded(r) && <span>imported</span>}
			{s !== null && r.state !== 'queued' && !(r.import && hasEnded(r)) && (
				<span class="number">
					{formatDuration((r.state === 'running' ? Math.floor(s) : s) * 1e9)}
				</span>
			)}
			{samples > 0 && (
				<span class="cut" title={`${plural(samples, 'sample')} of the stack were taken`}>
					{formatCount(samples)} samples
				</span>
			)}
			{labelled(ledger).map((w) => (
				<a
					key={w.key}
					class="chip warn"
					title={[w.sentence, w.advice].filter(Boolean).join(' ')}
					href={link({ view: 'details' })}
					onClick={follow({ view: 'details' })}
				>
					<Icon name="warning" size={12} />
					<span class="cut">{w.words}</span>
				</a>
			))}
		</p>
	);
}

function Trouble(props: { run: Run }) {
	const r = props.run;
	const trouble = runTrouble(r);
	const lines = useLastWords(r.uuid, trouble !== null && !r.import);
	if (!trouble) return null;
	return (
		<div class={'trouble ' + outcomeOf(r)} role="status">
			<div>
				<p>{trouble}</p>
				{lines.length > 0 && (
					<a href={link({ view: 'output' })} onClick={follow({ view: 'output' })}>
						All of the output
					</a>
				)}
			</div>
			{lines.length > 0 && <pre class="mono small">{lines.join('\n')}</pre>}
		</div>
	);
}

function Actions(props: { run: Run }) {
	const { uuid, state } = props.run;
	const goesOn = state === 'running' || state === 'queued';
	const cancel = () => void cancelRun(uuid);
	const { full } = address.value;
	const canCancel = goesOn && mayChange(props.run);
	const canRepeat = mayRun.value && !goesOn && !props.run.import;
	useShortcut(canCancel ? { keys: 'x', what: 'Cancel the run', where: 'Run', run: cancel } : null);
	useShortcut(
		canRepeat
			? { keys: 'r', what: 'Run it again', where: 'Run', run: () => void rerun(uuid) }
			: null,
	);
	useShortcut({ keys: 'l', what: 'Copy the link', where: 'Run', run: copyLink });
	useShortcut({ keys: 'z', what: 'Full screen and back', where: 'Run', run: toggleFull });
	return (
		<div class="run-actions">
			{canCancel && (
				<button class="danger" onClick={cancel}>
					<Icon name="stop" size={14} />
					<span>Cancel</span>
				</button>
			)}
			{canRepeat && (
				<button onClick={() => void rerun(uuid)} title="Run the same once more">
					<Icon name="repeat" size={14} />
					<span>Run again</span>
				</button>
			)}
			<button onClick={copyLink} title="Copy a link to exactly this view">
				<Icon name="link" size={14} />
				<span>Share</span>
			</button>
			<button
				class="sign"
				onClick={toggleFull}
				aria-pressed={full}
				aria-label="Full screen"
				title={full ? 'Back to the workbench' : 'Full screen'}
			>
				<Icon name={full ? 'shrink' : 'expand'} />
			</button>
		</div>
	);
}

export function RunBar(props: { run: Run }) {
	const r = props.run;
	useNow(r.state === 'running');
	const name = runName(r);
	const command = r.argv.join(' ');
	return (
		<header class="run-bar">
			<div class="run-top">
				<div class="run-title">
					<h2 class="cut" title={command || name}>
						{name}
					</h2>
					<Facts run={r} />
				</div>
				<Actions run={r} />
			</div>
			<Trouble run={r} />
		</header>
	);
}

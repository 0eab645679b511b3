/* The form of a new run: what to run, what to measure, and a button. */
import { useEffect, useRef } from 'preact/hooks';
import type { Tool } from '../../api/types';
import { repeatsOf, type Target } from '../../logic/run/plan';
import { onMac, useShortcut } from '../../state/keys';
import {
	change,
	clearDraft,
	draft,
	edited,
	learnUsual,
	mistakes,
	offered,
	runDraft,
	starting,
	useSettingsOfRun,
} from '../../state/draft';
import { Segments, type Choice } from '../parts/form_parts';
import { Icon } from '../parts/icons';
import { CommandLine } from './new_run_line';
import { Counting, Sampling } from './new_run_measure';
import { More } from './new_run_more';
import { TargetFields } from './new_run_target';
import './new_run.css';

const TOOLS: Choice<Tool>[] = [
	{ value: 'stat', text: 'Count', title: 'How often things happen, over time' },
	{ value: 'record', text: 'Sample', title: 'Which code runs, looked up many times a second' },
	{ value: 'both', text: 'Both', title: 'Count and take samples at the same time' },
];

const TOOL_MEANS: Record<Tool, string> = {
	stat: 'Counts how often things happen, over time. Costs next to nothing.',
	record: 'Looks many times a second which code is running: flame graph and functions.',
	both: 'Counters over time, and which code is running.',
};

const TARGETS: Choice<Target>[] = [
	{ value: 'command', text: 'Command', title: 'Start a program and measure it until it ends' },
	{ value: 'attach', text: 'Attach', title: 'Watch a program that is running already' },
	{ value: 'system', text: 'Machine', title: 'Watch everything that runs on the machine' },
];

/** Changes of the form are kept when another run is opened; its settings are offered instead. */
function Offer() {
	if (!offered.value && !edited.value) return null;
	return (
		<div class="offer">
			{offered.value && (
				<button type="button" class="plain link" onClick={useSettingsOfRun}>
					Use the settings of the open run
				</button>
			)}
			<button type="button" class="plain link" onClick={clearDraft} title="Back to the defaults">
				Clear
			</button>
		</div>
	);
}

function RunButton() {
	const n = repeatsOf(draft.value);
	return (
		<footer>
			{mistakes.value.form && (
				<p class="mistake" role="alert">
					{mistakes.value.form}
				</p>
			)}
			<Offer />
			<button type="submit" class="primary" disabled={starting.value}>
				<Icon name="play" size={13} />
				{starting.value ? 'Starting …' : n > 1 ? `Run ${n} times` : 'Run'}
				<kbd aria-hidden="true">{onMac ? '⌘ ⏎' : 'Ctrl ⏎'}</kbd>
			</button>
		</footer>
	);
}

/** After a failed attempt, focuses the first field with a mistake. */
function focusMistake(form: HTMLFormElement | null): void {
	const count = Object.keys(mistakes.peek()).length;
	if (!form || !count) return;
	requestAnimationFrame(() => {
		const first = form.querySelector<HTMLElement>('[aria-invalid="true"]');
		const folded = first?.closest('details');
		if (folded) folded.open = true;
		first?.focus();
		first?.scrollIntoView({ block: 'nearest' });
	});
}

export function NewRun() {
	const form = useRef<HTMLFormElement>(null);
	const start = async () => {
		if (!(await runDraft())) focusMistake(form.current);
	};
	useShortcut({ keys: 'Mod+Enter', what: 'Run', where: 'New run', run: () => void start() });
	// Without an answer the defaults stay, which work everywhere.
	useEffect(() => void learnUsual().catch(() => {}), []);
	const { tool, target } = draft.value;
	return (
		<form
			ref={form}
			class="new-run"
			aria-label="New run"
			onSubmit={(e) => {
				e.preventDefault();
				void start();
			}}
		>
			<section>
				<Segments
					label="What to do"
					value={tool}
					choices={TOOLS}
					onChange={(value) => change({ tool: value })}
					wide
				/>
				<p class="small dim">{TOOL_MEANS[tool]}</p>
			</section>
			<section>
				<Segments
					label="What to measure"
					value={target}
					choices={TARGETS}
					onChange={(value) => change({ target: value })}
					wide
				/>
				<TargetFields />
			</section>
			{tool !== 'record' && <Counting />}
			{tool !== 'stat' && <Sampling />}
			<More />
			<CommandLine />
			<RunButton />
		</form>
	);
}

/* The result of a run: the timeline on top, and below it one view of the selection. */
import type { ComponentType } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { VIEW_NAMES, VIEWS, type View } from '../../logic/address';
import type { Run } from '../../api/types';
import { address, follow, go, link } from '../../state/address';
import { useShortcut } from '../../state/keys';
import { tablesOfRun, useTablesOfRun } from '../../state/event_tables';
import { beginRun, showSide, SPLIT_STANDARD, split, width } from '../../state/layout';
import { run, runs } from '../../state/runs';
import { mayRun } from '../../state/server';
import { chooseFile } from '../../state/uploads';
import { DemoButton } from '../app/demo_button';
import { FilterChips } from '../parts/filter_chips';
import { FlameView } from '../flame/flame';
import { Gauge } from '../parts/gauge';
import { lazy } from '../parts/lazy';
import { RunBar } from './run_bar';
import { Splitter } from '../parts/splitter';
import { Empty, Loading } from '../parts/states';
import { TimelineView } from '../timeline/timeline';
import './result.css';

const ABOUT: Record<View, string> = {
	flame: 'Which functions call which, and where the time goes',
	functions: 'All functions, the most expensive first',
	diff: 'What has changed between two windows or two runs',
	histogram: 'How the values of a counter are spread',
	threads: 'Which threads worked when',
	events: 'Each hit of a tracepoint, with its fields',
	output: 'What the program has printed',
	details: 'The machine, the events, what was lost, files to download',
};

const BODIES: Record<View, ComponentType & { prepare?: () => void }> = {
	flame: FlameView,
	functions: lazy('Functions …', () => import('../tables/functions').then((m) => m.FunctionsView)),
	diff: lazy('Diff …', () => import('../compare/diff').then((m) => m.DiffView)),
	histogram: lazy('Histogram …', () => import('../tables/histogram').then((m) => m.HistogramView)),
	threads: lazy('Threads …', () => import('../tables/threads').then((m) => m.ThreadsView)),
	events: lazy('Events …', () => import('../events/events').then((m) => m.EventsView)),
	output: lazy('Output …', () => import('./output').then((m) => m.OutputView)),
	details: lazy('Details …', () => import('./details').then((m) => m.DetailsView)),
};

function NoRun() {
	if (runs.value.length || !mayRun.value)
		return (
			<section class="result card">
				<Empty title={runs.value.length ? 'No run is open' : 'Nothing was run yet'}>
					<p>Choose a run of the list to see what it did.</p>
					<div class="actions">
						<button onClick={() => showSide('right')}>Show the runs</button>
						{mayRun.value && (
							<button class="primary" onClick={beginRun}>
								New run
							</button>
						)}
					</div>
				</Empty>
			</section>
		);
	return <FirstRun />;
}

/** Shown for a session without runs: the three steps to a first result. */
function FirstRun() {
	return (
		<section class="result card first-run">
			<Gauge />
			<h2>Nothing was run yet</h2>
			<ol>
				<li>
					<b>Say what to run.</b> Any command, or a process that runs already. The usual events are
					chosen.
				</li>
				<li>
					<b>Press Run</b> and watch here, live, which functions take the time.
				</li>
				<li>
					<b>Drag over the slow part</b> of the timeline: everything below follows.
				</li>
			</ol>
			<div class="actions">
				<button class="primary" onClick={beginRun}>
					Type a command
				</button>
				<DemoButton />
				<button onClick={chooseFile}>Import a perf.data</button>
			</div>
		</section>
	);
}

function Waiting(props: { run: Run }) {
	const { progress } = props.run;
	const place = progress?.place ?? 0;
	const soon = progress?.starts_in_s;
	return (
		<div class="card waiting">
			<Empty
				title={
					place > 1
						? `Waiting for ${place - 1} other ${place > 2 ? 'runs' : 'run'}`
						: 'Next in the queue'
				}
			>
				<p>
					One program is measured at a time, so that none disturbs another.
					{soon ? ` It starts in about ${Math.ceil(soon)} s.` : ''}
				</p>
			</Empty>
		</div>
	);
}

/** Whether the run failed before anything was measured. */
function hasNothing(r: Run): boolean {
	return r.state === 'failed' && !r.samples && !r.opened_events?.length;
}

function Nothing(props: { run: Run }) {
	const imported = Boolean(props.run.import);
	return (
		<div class="card waiting">
			<Empty title={imported ? 'Nothing could be read' : 'Nothing was measured'}>
				<p>
					{imported
						? 'Import a file that was written by perf record or tacho record.'
						: 'The sentence above says why. Put it right in the form and run it again.'}
				</p>
				{mayRun.value && (
					<div class="actions">
						<button class="primary" onClick={imported ? chooseFile : beginRun}>
							{imported ? 'Choose another file' : 'Back to the form'}
						</button>
					</div>
				)}
			</Empty>
		</div>
	);
}

/** Without data, the plan and the outcome can still be shown. */
function OnlyDetails() {
	const DetailsView = BODIES.details;
	return (
		<div class="card panel">
			<div class="body of-details">
				<DetailsView />
			</div>
		</div>
	);
}

/** Events are a view only of runs that have tables of them, or if a link has led there. */
function shownViews(): View[] {
	const { view } = address.value;
	return VIEWS.filter((v) => v !== 'events' || view === v || tablesOfRun()?.length);
}

function ViewTabs() {
	const { view } = address.value;
	useTablesOfRun();
	const shown = shownViews();
	const step = (by: number) =>
		go({ view: shown[(shown.indexOf(view) + by + shown.length) % shown.length]! });
	useShortcut({ keys: '.', what: 'Next view', where: 'Run', run: () => step(1) });
	useShortcut({ keys: ',', what: 'Previous view', where: 'Run', run: () => step(-1) });
	const tabs = useRef<HTMLElement>(null);
	useEffect(() => {
		// Narrow screens do not show all tabs: scroll to the current one.
		const now = tabs.current!.querySelector<HTMLElement>('[aria-current]')!;
		tabs.current!.scrollLeft = now.offsetLeft + now.offsetWidth / 2 - tabs.current!.clientWidth / 2;
	}, [view]);
	return (
		<nav class="views" aria-label="Views of the selection" ref={tabs}>
			{shown.map((name) => (
				<a
					key={name}
					href={link({ view: name })}
					onClick={follow({ view: name })}
					onPointerEnter={BODIES[name].prepare}
					onFocus={BODIES[name].prepare}
					aria-current={name === view ? 'page' : undefined}
					title={ABOUT[name]}
				>
					{VIEW_NAMES[name]}
				</a>
			))}
		</nav>
	);
}

function Panel() {
	const { view } = address.value;
	const Body = BODIES[view];
	return (
		<div class="card panel">
			<ViewTabs />
			<div class={'body of-' + view}>
				<Body />
			</div>
		</div>
	);
}

function Views() {
	const phone = width.value === 'phone';
	return (
		<div class="stack">
			<div class="top" style={phone ? undefined : { maxHeight: split.value + '%' }}>
				<TimelineView />
			</div>
			{!phone && <Splitter part={split} standard={SPLIT_STANDARD} name="Height of the timeline" />}
			<Panel />
		</div>
	);
}

export function Result() {
	const r = run.value;
	if (!r && address.value.run) return <Loading what="Opening the run …" />;
	if (!r) return <NoRun />;
	return (
		<section class="result" aria-label="Result">
			<RunBar run={r} />
			<FilterChips />
			{r.state === 'queued' && <Waiting run={r} />}
			{hasNothing(r) && <Nothing run={r} />}
			{(r.state === 'queued' || hasNothing(r)) && <OnlyDetails />}
			{r.state !== 'queued' && !hasNothing(r) && <Views />}
		</section>
	);
}

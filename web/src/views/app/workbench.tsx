/* One session: the form of a new run, the result, and the list of runs. On narrow screens the outer
 * two open over the result, on phones the three are tabs. */
import { useEffect } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { ApiError } from '../../api/client';
import { address, go, goHome } from '../../state/address';
import { useShortcut } from '../../state/keys';
import {
	beginRun,
	drawer,
	folded,
	tab,
	toggleSide,
	width,
	type Side,
	type Tab,
} from '../../state/layout';
import { problem, runs, session, tryProblemAgain } from '../../state/runs';
import { mayRun } from '../../state/server';
import { Icon } from '../parts/icons';
import { NewRun } from '../new_run/new_run';
import { Result } from '../run/result';
import { Runs } from '../runs/runs';
import { Empty, Loading } from '../parts/states';
import './workbench.css';

const NAMES: Record<Side, string> = { left: 'New run', right: 'Runs' };

function isOpen(side: Side): boolean {
	if (address.value.full) return false;
	if (width.value === 'phone') return tab.value === (side === 'left' ? 'new' : 'runs');
	if (width.value === 'middle') return drawer.value === side;
	return !folded.value[side];
}

function Pane(props: { side: Side; children: ComponentChildren }) {
	const { side } = props;
	const open = isOpen(side);
	const name = NAMES[side];
	return (
		<section class={'pane card ' + side} aria-label={name} hidden={!open}>
			<div class="pane-head">
				<h2>{name}</h2>
				{width.value !== 'phone' && (
					<button
						class="plain sign"
						aria-label={width.value === 'wide' ? `Fold ${name}` : `Close ${name}`}
						title={width.value === 'wide' ? `Fold ${name}` : `Close ${name}`}
						onClick={() => toggleSide(side)}
					>
						<Icon name={width.value === 'wide' ? side : 'close'} />
					</button>
				)}
			</div>
			<div class="pane-body">{props.children}</div>
		</section>
	);
}

/** The edge that a folded pane leaves behind. */
function Edge(props: { side: Side }) {
	const { side } = props;
	if (width.value === 'phone' || address.value.full) return null;
	if (width.value === 'wide' && !folded.value[side]) return null;
	return (
		<button
			class={'edge card ' + side}
			aria-label={`Show ${NAMES[side]}`}
			title={`Show ${NAMES[side]}`}
			aria-expanded={isOpen(side)}
			onClick={() => toggleSide(side)}
		>
			<Icon name={side === 'left' ? 'plus' : 'list'} />
			<span>{NAMES[side]}</span>
		</button>
	);
}

const TABS: { name: Tab; text: string; icon: 'plus' | 'chart' | 'list' }[] = [
	{ name: 'new', text: 'New run', icon: 'plus' },
	{ name: 'result', text: 'Result', icon: 'chart' },
	{ name: 'runs', text: 'Runs', icon: 'list' },
];

function PhoneTabs() {
	if (width.value !== 'phone' || address.value.full) return null;
	return (
		<nav class="phone-tabs" aria-label="Parts of the session">
			{TABS.filter((t) => t.name !== 'new' || mayRun.value).map((t) => (
				<button
					key={t.name}
					class="plain"
					aria-current={tab.value === t.name ? 'true' : undefined}
					onClick={() => (tab.value = t.name)}
				>
					<Icon name={t.icon} />
					{t.text}
				</button>
			))}
		</nav>
	);
}

/** Opening a run shows its result; without a run, the form is shown. */
function useTabOfRun(): void {
	const { run: uuid } = address.value;
	useEffect(() => {
		tab.value = uuid ? 'result' : 'new';
		drawer.value = null;
	}, [uuid]);
}

function Lost() {
	const error = problem.value!;
	// 400 and 404 mean that the server does not know it; after other errors a retry may help.
	const known = error instanceof ApiError && error.status !== 404 && error.status !== 400;
	const { session: open } = address.value;
	return (
		<main class="workbench lost">
			<h1 class="visually-hidden">Not found</h1>
			<div class="card">
				<Empty title={known ? 'This could not be opened' : 'Run or session not found'}>
					<p>{error.message}</p>
					{!known && <p>It may have been deleted, or the link belongs to another server.</p>}
					<div class="actions">
						{known && (
							<button class="primary" onClick={tryProblemAgain}>
								Try again
							</button>
						)}
						{!known && session.value?.uuid === open && (
							<button onClick={() => go({ run: null })}>Other runs of the session</button>
						)}
						<button class={known ? '' : 'primary'} onClick={goHome}>
							All sessions
						</button>
					</div>
				</Empty>
			</div>
		</main>
	);
}

export function Workbench() {
	useTabOfRun();
	useShortcut({
		keys: '[',
		what: 'Fold or show New run',
		where: 'Everywhere',
		run: () => toggleSide('left'),
	});
	useShortcut({
		keys: ']',
		what: 'Fold or show Runs',
		where: 'Everywhere',
		run: () => toggleSide('right'),
	});
	useShortcut(
		mayRun.value ? { keys: 'n', what: 'New run', where: 'Everywhere', run: beginRun } : null,
	);
	if (problem.value) return <Lost />;
	if (!session.value && !runs.value.length)
		return (
			<main class="workbench lost">
				<Loading what="Opening the session …" />
			</main>
		);
	const shape = [
		'workbench',
		width.value,
		address.value.full ? 'full' : '',
		mayRun.value && !folded.value.left ? '' : 'no-left',
		folded.value.right ? 'no-right' : '',
	].join(' ');
	return (
		<main class={shape}>
			<h1 class="visually-hidden">{session.value?.title}</h1>
			{mayRun.value && <Edge side="left" />}
			{mayRun.value && (
				<Pane side="left">
					<NewRun />
				</Pane>
			)}
			<div class="centre" hidden={width.value === 'phone' && tab.value !== 'result'}>
				<Result />
			</div>
			<Pane side="right">
				<Runs />
			</Pane>
			<Edge side="right" />
			{drawer.value && width.value === 'middle' && (
				<div class="veil" onClick={() => (drawer.value = null)} />
			)}
			<PhoneTabs />
		</main>
	);
}

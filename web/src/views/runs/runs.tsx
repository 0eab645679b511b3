/* The runs of this session, newest first. */
import { useEffect, useRef } from 'preact/hooks';
import { neighbour, tagsOf } from '../../logic/run/run_list';
import { runName } from '../../logic/run/run_words';
import { address, follow, go, link } from '../../state/address';
import { useShortcut } from '../../state/keys';
import { foundRuns, runSearch } from '../../state/run_search';
import { hasMore, loadMore, runOf, runs, session } from '../../state/runs';
import { tell } from '../../state/toasts';
import { Icon } from '../parts/icons';
import { RunRow } from './run_row';
import { Empty, Loading } from '../parts/states';
import './runs.css';

/** The search is shown from this number of runs on. */
const SEARCH_FROM = 8;

function PinnedRun(props: { side: 'a' | 'b' }) {
	const { side } = props;
	const uuid = address.value[side];
	if (!uuid) return <p class="small dim">Pin another run as {side.toUpperCase()} to compare.</p>;
	const run = runOf(uuid);
	return (
		<p class="pinned">
			<b class={'pin-letter ' + side}>{side.toUpperCase()}</b>
			<span class="cut small">{run ? runName(run) : '…'}</span>
			<button
				type="button"
				class="plain sign"
				aria-label={`Unpin ${side.toUpperCase()}`}
				title="Unpin"
				onClick={() => go({ [side]: null }, true)}
			>
				<Icon name="close" size={12} />
			</button>
		</p>
	);
}

/** Without `second: null`, the two windows would be compared instead. */
const COMPARE = { view: 'diff', second: null } as const;

function Pinned() {
	const { a, b } = address.value;
	if (!a && !b) return null;
	return (
		<section class="pins" aria-label="Runs to compare">
			<PinnedRun side="a" />
			<PinnedRun side="b" />
			{a && b && (
				<a class="button" href={link(COMPARE)} onClick={follow(COMPARE)}>
					Compare A and B
				</a>
			)}
		</section>
	);
}

function Search() {
	const all = runs.value;
	if (all.length < SEARCH_FROM && !hasMore.value && !runSearch.value) return null;
	const tags = tagsOf(all).slice(0, 6);
	return (
		<div class="run-search">
			<input
				type="search"
				aria-label="Search in the runs"
				placeholder="Search name, note, tag …"
				value={runSearch.value}
				onInput={(e) => (runSearch.value = e.currentTarget.value)}
			/>
			{tags.length > 0 && (
				<div class="tags" role="group" aria-label="Tags">
					{tags.map((tag) => (
						<button
							key={tag}
							type="button"
							class="chip"
							aria-pressed={runSearch.value === tag}
							onClick={() => (runSearch.value = runSearch.value === tag ? '' : tag)}
						>
							{tag}
						</button>
					))}
				</div>
			)}
		</div>
	);
}

/** Older runs are loaded when the user scrolls to the end. */
function Older() {
	const end = useRef<HTMLButtonElement>(null);
	const load = () => void loadMore().catch(tell);
	useEffect(() => {
		const observer = new IntersectionObserver((e) => e.some((x) => x.isIntersecting) && load());
		observer.observe(end.current!);
		return () => observer.disconnect();
	}, []);
	return (
		<button ref={end} type="button" class="plain" onClick={load}>
			Show older runs
		</button>
	);
}

/** The arrows move between the links of the list. */
function moveFocus(e: KeyboardEvent): void {
	const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
	const from = e.target as HTMLElement;
	if (!step || !from.matches('.run-head > a')) return;
	e.preventDefault();
	const links = [
		...(e.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('.run-head > a'),
	];
	links[links.indexOf(from) + step]?.focus();
}

function useKeys(): void {
	const open = (step: 1 | -1) => {
		const next = neighbour(foundRuns.value, address.value.run, step);
		if (next) go({ run: next.uuid });
	};
	useShortcut({ keys: 'j', what: 'Next run (older)', where: 'Runs', run: () => open(1) });
	useShortcut({ keys: 'k', what: 'Previous run (newer)', where: 'Runs', run: () => open(-1) });
}

function Nothing() {
	if (!session.value) return <Loading what="Looking for runs …" />;
	if (runSearch.value)
		return (
			<Empty title="Nothing found">
				<p>No run of this session has “{runSearch.value}” in its name, command, note or tags.</p>
				<button type="button" onClick={() => (runSearch.value = '')}>
					Show all
				</button>
			</Empty>
		);
	return (
		<Empty title="No runs yet">
			<p>What you run is kept here, to look at again, compare and repeat.</p>
		</Empty>
	);
}

export function Runs() {
	useKeys();
	const found = foundRuns.value;
	const list = useRef<HTMLOListElement>(null);
	const { run } = address.value;
	useEffect(() => {
		list.current?.querySelector('.run-row.open')?.scrollIntoView({ block: 'nearest' });
	}, [run]);
	return (
		<div class="runs">
			<Pinned />
			<Search />
			{found.length ? (
				<ol ref={list} class="run-list" aria-label="Runs, the newest first" onKeyDown={moveFocus}>
					{found.map((r) => (
						<RunRow key={r.uuid} run={r} />
					))}
				</ol>
			) : (
				<Nothing />
			)}
			{hasMore.value && !runSearch.value && found.length > 0 && <Older />}
		</div>
	);
}

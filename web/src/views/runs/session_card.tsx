/* A session of the list: its title, its age, and its last runs. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Run, SessionHead } from '../../api/types';
import { formatAgo, plural } from '../../logic/format';
import { OTHERS_RUNS } from '../../logic/run/owner';
import { outcomeOf, runName } from '../../logic/run/run_words';
import { formatDuration } from '../../logic/units';
import { follow, link } from '../../state/address';
import { mayChange, mayRun } from '../../state/server';
import { deleteSession, loadNewest, newest, renameSession } from '../../state/sessions';
import { gone } from '../../state/undo';
import { Icon } from '../parts/icons';
import { StateSign } from '../run/run_state';
import { TitleField } from '../parts/title_field';

const ROWS = 3;

function useInSight(uuid: string, count: number) {
	const box = useRef<HTMLElement>(null);
	useEffect(() => {
		if (!count) return;
		const watcher = new IntersectionObserver((entries) => {
			if (!entries.some((e) => e.isIntersecting)) return;
			watcher.disconnect();
			void loadNewest(uuid);
		});
		watcher.observe(box.current!);
		return () => watcher.disconnect();
	}, [uuid, count]);
	return box;
}

/** Durations side by side, newest at the right: shows at a glance whether runs became faster. */
function Bars(props: { runs: Run[] }) {
	const list = [...props.runs].reverse().filter((r) => r.duration_s !== null && !r.import);
	if (list.length < 2) return null;
	const most = Math.max(...list.map((r) => r.duration_s!)) || 1;
	return (
		<div
			class="bars"
			title="How long the last runs took, the newest at the right"
			aria-hidden="true"
		>
			{list.map((r) => (
				<i
					key={r.uuid}
					class={outcomeOf(r)}
					style={{ height: Math.max(8, (r.duration_s! / most) * 100) + '%' }}
				/>
			))}
		</div>
	);
}

function LastRuns(props: { session: SessionHead }) {
	const { uuid, runs: count } = props.session;
	const all = newest.value.get(uuid)?.filter((r) => !gone.value.has('benchmark/' + r.uuid));
	if (!count) return <p class="small dim last">Nothing was run yet.</p>;
	if (!all)
		return (
			<div class="last loading" aria-hidden="true">
				<i />
				<i />
				<i />
			</div>
		);
	return (
		<ul class="last">
			{all.slice(0, ROWS).map((r) => {
				const to = { session: uuid, run: r.uuid };
				return (
					<li key={r.uuid} class="small">
						<StateSign run={r} />
						<a class="cut" href={link(to)} onClick={follow(to)} title={runName(r)}>
							{runName(r)}
						</a>
						<span class="dim number">
							{r.duration_s !== null && !r.import ? formatDuration(r.duration_s * 1e9) : ''}
						</span>
					</li>
				);
			})}
		</ul>
	);
}

function Buttons(props: { session: SessionHead; rename: () => void }) {
	const { title, uuid } = props.session;
	if (!mayRun.value) return null;
	// Only the last runs are known here; of older ones the server says it.
	const mixed = newest.value.get(uuid)?.some((r) => !mayChange(r));
	return (
		<div class="card-buttons">
			<button
				class="plain sign"
				aria-label={`Rename ${title}`}
				title={mixed ? OTHERS_RUNS : 'Rename'}
				disabled={mixed}
				onClick={props.rename}
			>
				<Icon name="pencil" size={14} />
			</button>
			<button
				class="plain sign"
				aria-label={`Delete ${title}`}
				title={mixed ? OTHERS_RUNS : 'Delete with all its runs'}
				disabled={mixed}
				onClick={() => deleteSession(props.session)}
			>
				<Icon name="trash" size={14} />
			</button>
		</div>
	);
}

export function SessionCard(props: { session: SessionHead }) {
	const s = props.session;
	const box = useInSight(s.uuid, s.runs);
	const [renaming, setRenaming] = useState(false);
	const to = { session: s.uuid, run: null };
	return (
		<article ref={box} class="card session-card">
			<div class="card-head">
				{renaming ? (
					<TitleField
						title={s.title}
						done={(title) => {
							setRenaming(false);
							if (title) void renameSession(s.uuid, title);
						}}
					/>
				) : (
					<h2>
						<a href={link(to)} onClick={follow(to)} title={s.title}>
							{s.title}
						</a>
					</h2>
				)}
				<Buttons session={s} rename={() => setRenaming(true)} />
			</div>
			<LastRuns session={s} />
			<div class="card-foot small">
				<span>
					{plural(s.runs, 'run')} ·{' '}
					<time dateTime={s.created_at}>{formatAgo(s.created_at, new Date())}</time>
				</span>
				<Bars runs={newest.value.get(s.uuid) ?? []} />
			</div>
		</article>
	);
}

/* Running and waiting runs of the whole server: progress, remaining time, and order. */
import { useEffect } from 'preact/hooks';
import type { Run } from '../../api/types';
import { queueWords, remaining } from '../../logic/run/queue_words';
import { runName } from '../../logic/run/run_words';
import { formatDuration } from '../../logic/units';
import { follow, link } from '../../state/address';
import { notifying, switchNotifying } from '../../state/notify';
import { now, useNow } from '../../state/now';
import { loadQueue, queue, shift, toldAt } from '../../state/queue';
import { cancelRun } from '../../state/runs';
import { mayChange } from '../../state/server';
import { Icon } from '../parts/icons';
import { Popover } from '../parts/popover';
import { StateSign } from '../run/run_state';
import './queue_popover.css';

function Name(props: { run: Run; close: () => void }) {
	const to = { session: props.run.session, run: props.run.uuid };
	const open = follow(to);
	return (
		<a
			class="cut"
			href={link(to)}
			title={runName(props.run)}
			onClick={(e) => {
				open(e);
				if (e.defaultPrevented) props.close();
			}}
		>
			{runName(props.run)}
		</a>
	);
}

function Cancel(props: { run: Run }) {
	if (!mayChange(props.run)) return null;
	const label = `Cancel ${runName(props.run)}`;
	return (
		<button
			class="plain sign danger"
			aria-label={label}
			title="Cancel"
			onClick={() => void cancelRun(props.run.uuid).then(loadQueue)}
		>
			<Icon name="close" size={14} />
		</button>
	);
}

function Running(props: { run: Run; close: () => void }) {
	const r = props.run;
	const { elapsed, left, part } = remaining(r.progress, (now.value - toldAt.value) / 1000);
	return (
		<li>
			<div class="line">
				<StateSign run={r} />
				<Name run={r} close={props.close} />
				<Cancel run={r} />
			</div>
			<progress
				aria-label={`How far ${runName(r)} is`}
				value={part ?? undefined}
				max={part === null ? undefined : 1}
			/>
			<p class="small dim">
				{formatDuration(Math.floor(elapsed) * 1e9)}
				{left !== null && ` – about ${formatDuration(Math.ceil(left) * 1e9)} left`}
			</p>
		</li>
	);
}

function Waiting(props: { run: Run; at: number; of: number; close: () => void }) {
	const { run: r, at, of } = props;
	const soon = r.progress?.starts_in_s;
	const name = runName(r);
	const mine = mayChange(r);
	const move = (by: -1 | 1) => void shift(r.uuid, by);
	const byKey = (e: KeyboardEvent) => {
		if (!mine || !e.altKey || (e.key !== 'ArrowUp' && e.key !== 'ArrowDown')) return;
		e.preventDefault();
		move(e.key === 'ArrowUp' ? -1 : 1);
	};
	return (
		<li onKeyDown={byKey}>
			<div class="line">
				<StateSign run={r} />
				<Name run={r} close={props.close} />
				{soon != null && (
					<span class="small dim">
						{soon > 0 ? `in ${formatDuration(Math.ceil(soon) * 1e9)}` : 'soon'}
					</span>
				)}
				{mine && (
					<>
						<button
							class="plain sign"
							aria-disabled={at === 0}
							aria-label={`Move ${name} up`}
							title="Earlier (Alt ↑)"
							onClick={() => move(-1)}
						>
							<Icon name="up" size={14} />
						</button>
						<button
							class="plain sign"
							aria-disabled={at === of - 1}
							aria-label={`Move ${name} down`}
							title="Later (Alt ↓)"
							onClick={() => move(1)}
						>
							<Icon name="down" size={14} />
						</button>
					</>
				)}
				<Cancel run={r} />
			</div>
		</li>
	);
}

function Content(props: { close: () => void }) {
	useNow();
	useEffect(() => {
		void loadQueue();
	}, []);
	const { running, queued, next } = queue.value;
	return (
		<div class="queue">
			<h2>Queue</h2>
			{running.length + queued.length === 0 && <p class="dim">Nothing runs and nothing waits.</p>}
			<ol>
				{running.map((r) => (
					<Running key={r.uuid} run={r} close={props.close} />
				))}
				{queued.map((r, i) => (
					<Waiting key={r.uuid} run={r} at={i} of={queued.length} close={props.close} />
				))}
			</ol>
			{next && <p class="small dim">… and more.</p>}
			{'Notification' in window && (
				<label class="notify small">
					<input
						type="checkbox"
						checked={notifying.value}
						onChange={(e) => void switchNotifying(e.currentTarget.checked)}
					/>
					Tell me when a run of more than 10 s ends
				</label>
			)}
		</div>
	);
}

export function QueuePopover() {
	const { running, queued } = queue.value;
	const words = queueWords(running.length, queued.length);
	const busy = running.length + queued.length;
	return (
		<Popover
			name="Queue"
			align="right"
			class={'plain queue-button' + (running.length ? ' busy' : '')}
			title="What runs and what waits"
			button={
				<>
					<span class={'state-sign ' + (running.length ? 'running' : '')} aria-hidden="true">
						{running.length ? '●' : '○'}
					</span>
					<span class="words">{words}</span>
					<span class="count" aria-hidden="true">
						{busy || ''}
					</span>
				</>
			}
		>
			{(close) => <Content close={close} />}
		</Popover>
	);
}

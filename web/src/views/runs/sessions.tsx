/* The first screen: all sessions, or what tacho is and how to begin, on a first visit. */
import { useEffect } from 'preact/hooks';
import { signal } from '@preact/signals';
import { SORTS, sortSessions, type Sort } from '../../logic/run/session_sort';
import { connection, mayRun, me } from '../../state/server';
import { useShortcut } from '../../state/keys';
import {
	loadMoreSessions,
	loadSessions,
	moreSessions,
	newSession,
	search,
	sessions,
	sessionsProblem,
} from '../../state/sessions';
import { tell } from '../../state/toasts';
import { chooseFile } from '../../state/uploads';
import { Icon } from '../parts/icons';
import { SessionCard } from './session_card';
import { Loading, Problem } from '../parts/states';
import { Welcome } from '../app/welcome';
import './sessions.css';

const sort = signal<Sort>('newest');
const PAUSE_MS = 150;
let timer = 0;

function searchFor(text: string): void {
	search.value = text;
	clearTimeout(timer);
	timer = window.setTimeout(() => void loadSessions(), PAUSE_MS);
}

function Tools() {
	return (
		<div class="session-tools">
			<h1>Sessions</h1>
			<input
				type="search"
				class="session-search"
				aria-label="Search sessions"
				placeholder="Search sessions"
				value={search.value}
				onInput={(e) => searchFor(e.currentTarget.value)}
			/>
			<label class="sort">
				<span class="visually-hidden">Order</span>
				<select value={sort.value} onChange={(e) => (sort.value = e.currentTarget.value as Sort)}>
					{Object.entries(SORTS).map(([name, text]) => (
						<option key={name} value={name}>
							{text}
						</option>
					))}
				</select>
			</label>
			{mayRun.value && (
				<>
					<button onClick={chooseFile} title="A recording of perf or tacho, from any machine">
						<Icon name="upload" size={14} /> Import
					</button>
					<button class="primary" onClick={newSession}>
						<Icon name="plus" size={14} /> New session
					</button>
				</>
			)}
		</div>
	);
}

function List() {
	const list = sessions.value!;
	if (!list.length)
		return (
			<div class="card none">
				<p>No session is called “{search.value}”.</p>
				<button onClick={() => searchFor('')}>Show all</button>
			</div>
		);
	return (
		<>
			<div class="session-grid">
				{sortSessions(list, sort.value).map((s) => (
					<SessionCard key={s.uuid} session={s} />
				))}
			</div>
			{moreSessions.value && (
				<p class="more">
					<button onClick={() => void loadMoreSessions().catch(tell)}>Older sessions</button>
				</p>
			)}
		</>
	);
}

export function Sessions() {
	useEffect(() => {
		search.value = '';
		void loadSessions();
	}, []);
	useShortcut(
		mayRun.value ? { keys: 'n', what: 'New session', where: 'Everywhere', run: newSession } : null,
	);
	const list = sessions.value;
	if (sessionsProblem.value && !list && connection.value === 'ok')
		return (
			<main class="sessions">
				<Problem error={sessionsProblem.value} again={() => void loadSessions()} />
			</main>
		);
	if (!list || !me.value)
		return (
			<main class="sessions">
				<Loading what="Looking for sessions …" />
			</main>
		);
	if (!list.length && !search.value)
		return (
			<main class="sessions">
				<Welcome />
			</main>
		);
	return (
		<main class="sessions">
			<div class="wide-column">
				<Tools />
				<List />
			</div>
		</main>
	);
}

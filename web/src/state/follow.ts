/* Keeps sessions, runs and the queue up to date from the live stream. */
import { effect } from '@preact/signals';
import { on, watch } from '../api/live';
import type { Run } from '../api/types';
import { address, goHome } from './address';
import { notifyEnd } from './notify';
import { loadQueue, queue } from './queue';
import { connection, retry } from './server';
import { hasEnded, learn, refresh, session, unlearn } from './runs';
import {
	learnSession,
	loadNewest,
	loadSessions,
	newest,
	sessions,
	unlearnSession,
} from './sessions';
import { toast } from './toasts';
import { gone } from './undo';

/** Delays @act and merges the calls meanwhile: many runs may change at once. */
function soon(act: () => Promise<void>, ms: number): () => void {
	let timer = 0;
	return () => {
		timer ||= window.setTimeout(() => {
			timer = 0;
			void act();
		}, ms);
	};
}

const queueSoon = soon(loadQueue, 150);
const runsSoon = soon(refresh, 150);
const sessionsSoon = soon(loadSessions, 400);

const ended = new Set<string>();

/** The end of a run may be reported on several topics: notifies once. */
function noticeEnd(r: Run): void {
	if (!hasEnded(r) || ended.has(r.uuid)) return;
	const ran = queue.peek().running.some((x) => x.uuid === r.uuid);
	ended.add(r.uuid);
	if (ran) notifyEnd(r);
}

on('state', (r) => {
	noticeEnd(r);
	learn(r);
	if (newest.peek().has(r.session) && !address.peek().session) void loadNewest(r.session);
});
function sessionGone(uuid: string): void {
	unlearnSession(uuid);
	if (address.peek().session !== uuid) return;
	if (!gone.peek().has('session/' + uuid)) toast('Somebody has deleted the session that was open.');
	goHome();
}

function runGone(uuid: string): void {
	if (address.peek().run === uuid && !gone.peek().has('benchmark/' + uuid))
		toast('Somebody has deleted the run that was open.');
	unlearn(uuid);
}

on('removed', ({ uuid }) => {
	if (uuid === session.peek()?.uuid) sessionGone(uuid);
	else runGone(uuid);
});
on('queue', queueSoon);
on('session', (s) => {
	learnSession(s);
	if (s.uuid === session.peek()?.uuid) session.value = s;
});
on('session_removed', ({ uuid }) => sessionGone(uuid));
on('missed', ({ topic }) => {
	if (topic === 'queue') queueSoon();
	else if (topic === 'sessions') sessionsSoon();
	else runsSoon();
});

// The stream notices early that the server is lost or back.
on('connection', ({ state }) => {
	if (state === 'lost' && connection.peek() === 'ok') retry();
	if (state === 'open' && connection.peek() === 'lost') retry();
});

watch(['queue', 'sessions']);

/** Watches the topics that @topicsOf gives, whenever they change. */
function following(topicsOf: () => string[]): void {
	let stop = () => {};
	let before = '';
	effect(() => {
		const topics = topicsOf();
		if (topics.join() === before) return;
		before = topics.join();
		const last = stop;
		stop = topics.length ? watch(topics) : () => {};
		last();
	});
}

following(() => (address.value.session ? ['session/' + address.value.session] : []));
following(() => queue.value.running.map((r) => 'session/' + r.session));

document.addEventListener('visibilitychange', () => {
	if (!document.hidden && !address.peek().session && sessions.peek()) sessionsSoon();
});

/* Results of the palette: commands at once, sessions and runs from the server. */
import { signal } from '@preact/signals';
import { get } from '../api/client';
import type { Run, Runs, SessionHead, Sessions } from '../api/types';
import { HOME, VIEW_NAMES, VIEWS } from '../logic/address';
import { formatAgo } from '../logic/format';
import { filterChoices, type Choice } from '../logic/palette';
import { outcomeOf, runName, STATE_WORDS } from '../logic/run/run_words';
import { tablesOfRun } from './event_tables';
import { address, go, goHome } from './address';
import { dialog } from './dialogs';
import { beginRun } from './layout';
import { rerun, run, session } from './runs';
import { mayRun } from './server';
import { newSession } from './sessions';
import { copyLink, toggleFull } from './share';
import { switchTheme } from './theme';
import { gone } from './undo';
import { chooseFile } from './uploads';

const FOUND = 8;
const PAUSE_MS = 120;

export const found = signal<Choice[]>([]);
export const searching = signal(false);

function command(text: string, act: () => void, more?: string): Choice {
	return { id: 'command/' + text, group: 'Commands', text, more, run: act };
}

function commands(): Choice[] {
	const r = run.value;
	const open = session.value !== null;
	const out: Choice[] = [];
	if (r)
		for (const view of VIEWS.filter((v) => v !== 'events' || tablesOfRun()?.length))
			out.push(command(`Show the ${VIEW_NAMES[view].toLowerCase()}`, () => go({ view }), 'view'));
	if (r) out.push(command('Copy the link to this view', copyLink, 'share'));
	if (r) out.push(command('Full screen', toggleFull));
	if (mayRun.value) {
		if (open) out.unshift(command('New run', beginRun));
		if (r && !r.import) out.push(command('Run again', () => void rerun(r.uuid)));
		out.push(
			command('New session', newSession),
			command('Import a perf.data file', chooseFile, 'upload recording'),
		);
	}
	if (open) out.push(command('All sessions', goHome, 'home'));
	out.push(
		command('Light or dark', switchTheme, 'theme colours'),
		command('Keyboard shortcuts', () => (dialog.value = 'help'), 'help'),
	);
	return out;
}

function ofRun(r: Run): Choice {
	return {
		id: 'run/' + r.uuid,
		group: 'Runs',
		text: runName(r),
		more: `${STATE_WORDS[outcomeOf(r)]}, ${formatAgo(r.created_at, new Date())}`,
		run: () => go({ session: r.session, run: r.uuid }),
	};
}

function ofSession(s: SessionHead): Choice {
	const { a, b } = address.value;
	return {
		id: 'session/' + s.uuid,
		group: 'Sessions',
		text: s.title,
		more: formatAgo(s.created_at, new Date()),
		run: () => go({ ...HOME, a, b, session: s.uuid }),
	};
}

let abort: AbortController | null = null;
let timer = 0;

async function ask(query: string): Promise<void> {
	abort = new AbortController();
	const { signal: stop } = abort;
	try {
		const [some, others] = await Promise.all([
			get<Sessions>('sessions', { search: query, limit: FOUND }, stop),
			get<Runs>('benchmarks', { search: query, limit: FOUND }, stop),
		]);
		const shown = (c: Choice) => !gone.value.has(c.id.replace('run/', 'benchmark/'));
		found.value = [
			...filterChoices(commands(), query),
			...others.runs.map(ofRun).filter(shown),
			...some.sessions.map(ofSession).filter(shown),
		];
		searching.value = false;
	} catch {
		if (!stop.aborted) searching.value = false;
	}
}

/** Commands appear at once, sessions and runs when the server has answered. */
export function look(query: string): void {
	abort?.abort();
	clearTimeout(timer);
	const before = found.peek().filter((c) => c.group !== 'Commands' && query);
	found.value = [...filterChoices(commands(), query), ...filterChoices(before, query)];
	searching.value = true;
	timer = window.setTimeout(() => void ask(query), query ? PAUSE_MS : 0);
}

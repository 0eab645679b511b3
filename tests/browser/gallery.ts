/* Every screen of the page, with what was really measured: looked at by axe, and kept as a picture. */
import type { Locator, Page } from 'playwright-core';
import {
	flame,
	flameDrawn,
	form,
	functions,
	settled,
	timeline,
	views,
	type ViewName,
} from './actions';
import type { RunFacts, Server } from './server';

export interface Measured {
	session: string;
	/** The demo, from beginning to end. */
	demo: RunFacts;
	/** When its samples were taken. */
	times: number[];
	/** A program that failed. */
	failed: RunFacts;
	/** One that goes on. */
	live: RunFacts;
	/** Hits of a tracepoint; null if this machine has none. */
	traced: RunFacts | null;
}

const TRACEPOINT = 'syscalls:sys_enter_getpriority';

/** A run with a table of events. It is refused, or fails, where tracepoints cannot be read. */
async function trace(server: Server, session: string): Promise<RunFacts | null> {
	const plan = {
		workload: `perl -e 'getpriority($_ % 3, $_ % 40) for 0..4999'`,
		description: 'getpriority',
		tool: 'record',
		sample: { events: [TRACEPOINT], period: 1, callgraph: 'fp' },
	};
	try {
		const { uuid } = await server.run(session, plan);
		const run = await server.reaches(uuid, 'done', 'failed');
		return run.state === 'done' ? run : null;
	} catch (error) {
		console.log(`no pictures of events: ${(error as Error).message}`);
		return null;
	}
}

const EVENTS = ['task-clock', 'page-faults', 'context-switches'];

/** Sessions and runs as somebody has them after the first hour. */
export async function measure(server: Server): Promise<Measured> {
	const plan = {
		workload: 'tacho demo',
		description: 'Demo',
		tool: 'both',
		events: EVENTS,
		interval: 0.02,
		sample: { events: ['cpu-clock'], frequency: 1999, callgraph: 'fp' },
		streaming: true,
	};
	const other = await server.session('Why is sort slow?');
	const sorting = { ...plan, workload: 'seq 400000 | sort -R | tail -1', shell: true };
	const sort = await server.run(other, { ...sorting, description: 'sort -R', tags: ['baseline'] });
	const session = await server.session('Demo');
	const failing = { ...plan, workload: 'tar -xf /no/such/archive.tar', description: null };
	const failed = await server.run(session, failing);
	const demo = await server.run(session, plan);
	await server.reaches(sort.uuid, 'done');
	await server.reaches(failed.uuid, 'done', 'failed');
	const done = await server.ends(demo.uuid);
	const traced = await trace(server, other);
	const endless = { ...plan, workload: 'tacho demo --seconds 3600' };
	const live = await server.run(session, endless);
	await server.reaches(live.uuid, 'running');
	return {
		session,
		demo: done,
		times: await server.sampleTimes(demo.uuid),
		failed,
		live,
		traced,
	};
}

interface Place {
	name: string;
	/** What stands behind the server's name; null: this machine cannot show it. */
	path: (m: Measured) => string | null;
	/** What is there when the screen is complete. */
	ready: (page: Page) => Promise<unknown>;
	/** Only where there is room for it, or none. */
	only?: 'desktop' | 'phone';
}

/** A window of the demo, as parts of its samples. */
function part(m: Measured, from: number, to: number): string {
	const at = (part: number) => m.times[Math.floor(m.times.length * part)]!;
	return `${at(from)}-${at(to)}`;
}

function demo(m: Measured, more = ''): string {
	return `/?session=${m.session}&run=${m.demo.uuid}${more}`;
}

function brushed(m: Measured, more = ''): string {
	return demo(m, `&window=${part(m, 0.3, 0.42)}${more}`);
}

const seen = (what: (page: Page) => Locator) => (page: Page) => what(page).first().waitFor();

/** A view of the window, where nothing is on its way any more. */
function view(name: ViewName, query: string, ready: Place['ready']): Place {
	return {
		name: name.toLowerCase().replace(' ', '-'),
		path: (m) => brushed(m, `&view=${query}`),
		ready: async (page) => {
			await timeline(page).waitFor();
			await ready(page);
			await settled(page);
		},
	};
}

/** A part of the view of events. */
function events(part: string, more: string, ready: (page: Page) => Locator): Place {
	return {
		name: 'events-' + part,
		path: ({ traced }) =>
			traced &&
			`/?session=${traced.session}&run=${traced.uuid}&view=events&part=${part}&value=who${more}`,
		ready: async (page) => {
			await ready(page).waitFor();
			await settled(page);
		},
	};
}

async function press(page: Page, button: Locator, result: Locator): Promise<void> {
	await button.click();
	await result.waitFor();
	await settled(page);
}

const phoneTabs = (page: Page) => page.getByRole('navigation', { name: 'Parts of the session' });

/** The form, which is one of three tabs on a phone. */
async function openForm(page: Page): Promise<void> {
	await form(page).or(phoneTabs(page)).first().waitFor();
	const tab = phoneTabs(page).getByRole('button', { name: 'New run' });
	if (await tab.isVisible()) await tab.click();
	await form(page).waitFor();
}

async function flameReady(page: Page): Promise<void> {
	await timeline(page).waitFor();
	await flameDrawn(page);
	await settled(page);
}

export const PLACES: Place[] = [
	{ name: 'sessions', path: () => '/', ready: seen((p) => p.getByRole('link', { name: /Demo/ })) },
	{
		name: 'session',
		path: (m) => `/?session=${m.session}`,
		ready: seen((p) => form(p).or(phoneTabs(p))),
	},
	{ name: 'run', path: (m) => demo(m), ready: flameReady },
	{ name: 'brush', path: (m) => brushed(m), ready: flameReady },
	{ name: 'search', path: (m) => brushed(m, '&search=parse'), ready: flameReady },
	{ name: 'inverted', path: (m) => brushed(m, '&mode=inverted'), ready: flameReady },
	{ name: 'ordered', path: (m) => brushed(m, '&mode=ordered'), ready: seen(flame) },
	{
		name: 'sandwich',
		path: (m) => demo(m, '&mode=sandwich&function=find_word_slowly&module=tacho'),
		ready: seen((p) => p.getByRole('tree')),
	},
	{
		name: 'points',
		path: (m) => brushed(m, '&plot=points'),
		ready: flameReady,
	},
	view(
		'Functions',
		'functions',
		seen((p) => functions(p).getByRole('row').nth(1)),
	),
	{
		name: 'diff',
		path: (m) => demo(m, `&view=diff&window=${part(m, 0.05, 0.2)}&second=${part(m, 0.3, 0.45)}`),
		ready: async (p) => {
			await p.getByRole('tree').first().waitFor();
			await settled(p);
		},
	},
	view('Histogram', 'histogram', seen(views)),
	view('Threads', 'threads', seen(views)),
	events('rows', '&where=which+%3D%3D+1', (p) => p.getByRole('grid').getByRole('row').nth(1)),
	events('groups', '&by=which', (p) => p.getByRole('grid').getByRole('row').nth(1)),
	events('histogram', '', (p) => p.getByRole('group', { name: /^who: half/ })),
	events('heatmap', '', (p) => p.getByRole('application', { name: /^Heat map of who/ })),
	view('Output', 'output', seen(views)),
	view('Details', 'details', seen(views)),
	{ name: 'full', path: (m) => brushed(m, '&full=1'), ready: flameReady },
	{
		name: 'failed',
		path: (m) => `/?session=${m.session}&run=${m.failed.uuid}`,
		ready: seen((p) => p.getByText(/no such file/i)),
	},
	{
		name: 'live',
		path: (m) => `/?session=${m.session}&run=${m.live.uuid}`,
		ready: seen(flame),
	},
	{
		name: 'queue',
		path: () => '/',
		ready: (p) =>
			press(p, p.getByRole('button', { name: /queue|running/i }), p.getByRole('dialog')),
	},
	{
		name: 'keys',
		path: (m) => demo(m),
		ready: async (p) => {
			await flameReady(p);
			await press(p, p.getByRole('button', { name: 'Keyboard shortcuts' }), p.getByRole('dialog'));
		},
		only: 'desktop',
	},
	{
		name: 'palette',
		path: (m) => demo(m),
		ready: async (p) => {
			await flameReady(p);
			await p.keyboard.press('Control+k');
			await p.getByRole('dialog').waitFor();
		},
		only: 'desktop',
	},
	{
		name: 'new-run',
		path: (m) => demo(m),
		ready: openForm,
		only: 'phone',
	},
	{
		name: 'runs',
		path: (m) => demo(m),
		ready: async (p) => {
			const list = p.getByRole('list', { name: 'Runs, the newest first' });
			await press(p, phoneTabs(p).getByRole('button', { name: 'Runs' }), list);
		},
		only: 'phone',
	},
	{
		name: 'lost',
		path: () => '/?run=00000000-0000-4000-8000-000000000000',
		ready: seen((p) => p.getByRole('button', { name: 'All sessions' })),
	},
	// These change the form of the tab, so they come last.
	{
		name: 'events',
		path: (m) => `/?session=${m.session}`,
		ready: async (p) => {
			await openForm(p);
			const events = form(p).getByRole('combobox', { name: 'Count', exact: true });
			await press(p, events, p.getByRole('listbox').getByRole('option').first());
		},
	},
	{
		name: 'attach',
		path: (m) => `/?session=${m.session}`,
		ready: async (p) => {
			await openForm(p);
			const list = p.getByRole('listbox', { name: 'Processes that run' });
			await press(
				p,
				form(p).getByRole('radio', { name: 'Attach' }),
				list.getByRole('option').first(),
			);
		},
	},
];

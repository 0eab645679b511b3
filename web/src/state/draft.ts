/* The form of a new run. It shows the settings of the open run, unless they were changed. */
import { computed, effect, signal } from '@preact/signals';
import { ApiError, get } from '../api/client';
import type { Events, Me, Run } from '../api/types';
import { fieldOf, messageFor, mistakesOf, type Field, type Mistakes } from '../logic/run/mistakes';
import {
	DEFAULT_DRAFT,
	draftOf,
	plansOf,
	readDraft,
	usualDraft,
	type Draft,
} from '../logic/run/plan';
import { joinWords } from '../logic/words';
import { address, go } from './address';
import { run, session, startRun } from './runs';
import { addSession } from './sessions';
import { keep, recallJson } from './storage';
import { toast } from './toasts';

const KEY = 'draft';

/** The draft of this tab before its reload; a new tab begins with the one last used in any. */
function stored(): { draft: Draft; base: string } {
	const own = recallJson(KEY, 'sessionStorage') as { draft?: unknown; base?: unknown } | null;
	const ownDraft = readDraft(own?.draft);
	if (ownDraft) return { draft: ownDraft, base: String(own?.base) };
	const draft = readDraft(recallJson(KEY)) ?? DEFAULT_DRAFT;
	return { draft, base: JSON.stringify(draft) };
}

const first = stored();
export const draft = signal<Draft>(first.draft);
/** The draft as it was taken from a run or started: differences from it are edits of the user. */
const base = signal<string>(first.base);
export const edited = computed(() => JSON.stringify(draft.value) !== base.value);

/** Mistakes by field; `form` is about no field in particular. */
export const mistakes = signal<Mistakes & { form?: string }>({});
export const starting = signal(false);

effect(() => {
	const text = JSON.stringify(draft.value);
	keep(KEY, `{"draft":${text},"base":${JSON.stringify(base.value)}}`, 'sessionStorage');
	keep(KEY, text);
});

export function change(part: Partial<Draft>): void {
	draft.value = { ...draft.value, ...part };
	const left = { ...mistakes.value, form: undefined };
	for (const name of Object.keys(part)) delete left[name as Field];
	mistakes.value = left;
}

function begin(settings: Draft): void {
	draft.value = settings;
	base.value = JSON.stringify(settings);
}

function adopt(settings: Draft): void {
	begin(settings);
	mistakes.value = {};
}

/** The settings of the run that is open, if they can be used. */
const ofRun = computed(() => (run.value ? draftOf(run.value) : null));

/** Whether the form differs from the settings of the open run, which can then be taken over. */
export const offered = computed(
	() => ofRun.value !== null && JSON.stringify(ofRun.value) !== JSON.stringify(draft.value),
);

export function useSettingsOfRun(): void {
	if (ofRun.value) adopt(ofRun.value);
}

let shown: string | null = null;
effect(() => {
	const uuid = run.value?.uuid ?? null;
	if (uuid === shown) return;
	shown = uuid;
	if (uuid && !edited.peek()) useSettingsOfRun();
});

let usual = DEFAULT_DRAFT;

/** Runs once: the default draft depends on what the CPU can count. */
export async function learnUsual(): Promise<void> {
	if (usual !== DEFAULT_DRAFT) return;
	const { events } = await get<Events>('emap', { search: 'cycles', group: 'hw' });
	usual = usualDraft(events.some((e) => e.name === 'cycles' && e.available === true));
	const untouched = JSON.stringify(draft.value) === JSON.stringify(DEFAULT_DRAFT);
	// Not adopt(): mistakes shown by a Run pressed meanwhile must stay.
	if (untouched) begin(usual);
}

export function clearDraft(): void {
	adopt(usual);
}

async function sessionFor(title: string): Promise<string> {
	const open = address.value.session ?? session.value?.uuid;
	return open ?? (await addSession(title)).uuid;
}

/** Most views need samples; a run without them opens its output instead. */
function viewFor(settings: Draft) {
	const { view } = address.value;
	if (settings.tool === 'stat' && (view === 'flame' || view === 'functions' || view === 'diff'))
		return 'output' as const;
	return view === 'diff' ? ('flame' as const) : view;
}

/** Queues all repetitions and opens the first. */
async function queue(settings: Draft, title: string): Promise<Run> {
	const [plan, ...more] = plansOf(settings);
	const id = await sessionFor(title);
	const opened = await startRun(id, plan!);
	adopt(settings);
	go({ session: id, run: opened.uuid, view: viewFor(settings) });
	for (const again of more) await startRun(id, again);
	return opened;
}

function fail(e: unknown): void {
	const message = (e as Error).message;
	const field = e instanceof ApiError && e.status === 400 ? fieldOf(message, draft.value) : null;
	mistakes.value = { [field ?? 'form']: messageFor(field, message) };
}

/** Checks and starts the draft. Returns false if it is being started already, or on mistakes. */
export async function runDraft(): Promise<boolean> {
	if (starting.value) return false;
	const settings = draft.value;
	mistakes.value = mistakesOf(settings);
	if (Object.keys(mistakes.value).length) return false;
	starting.value = true;
	try {
		await queue(settings, 'My measurements');
		remember(settings.command);
		return true;
	} catch (e) {
		fail(e);
		return false;
	} finally {
		starting.value = false;
	}
}

/** Profiles the demo program that comes with the server. */
export async function startDemo(): Promise<void> {
	const { demo } = (await get<Me>('me')).server;
	if (!demo?.length) {
		toast('This server has no demo program.', { kind: 'error' });
		return;
	}
	await queue(
		{
			...DEFAULT_DRAFT,
			command: joinWords(demo),
			description: 'Demo',
			interval: '0.02',
			frequency: '1999',
		},
		'Demo',
	);
}

/* ---- commands that were typed before ---- */

const HISTORY_KEY = 'commands';
const HISTORY_MAX = 50;

function storedCommands(): string[] {
	const list = recallJson(HISTORY_KEY);
	return Array.isArray(list) ? list.filter((c) => typeof c === 'string') : [];
}

/** Newest first. */
export const commands = signal<string[]>(storedCommands());

function remember(command: string): void {
	if (!command.trim()) return;
	commands.value = [command, ...commands.value.filter((c) => c !== command)].slice(0, HISTORY_MAX);
	keep(HISTORY_KEY, JSON.stringify(commands.value));
}

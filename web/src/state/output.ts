/* The output of the open run as lines: stored ones from the server, or those that stream in. */
import { computed, signal, useSignalEffect, type ReadonlySignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { getPieces } from '../api/client';
import type { OutputStream } from '../logic/address';
import { OutputLines } from '../logic/ansi';
import { MarkedLog } from '../logic/live/marked_log';
import { address } from './address';
import { liveRun } from './live';
import { hasEnded, run } from './runs';

export interface Output {
	lines: OutputLines;
	/** Bytes before the first line that are not shown while the run goes on. */
	dropped: number;
	loading: boolean;
	error: Error | null;
}

/** Lines kept of a run that goes on; the server has all of them. */
const LIVE_LINES = 20_000;
/** How often lines are shown while stored output is being read. */
const SHOW_MS = 100;

type Show = (change: Partial<Output>) => void;

function wants(choice: OutputStream, stream: 1 | 2): boolean {
	return choice === 'both' || (choice === 'stdout') === (stream === 1);
}

function readStored(uuid: string, choice: OutputStream, show: Show): () => void {
	const abort = new AbortController();
	const lines = new OutputLines();
	const marked = new MarkedLog((stream, text) => lines.push(stream, text));
	let shownMs = Date.now();
	const take = (text: string) => {
		if (choice === 'both') marked.push(text);
		else lines.push(choice === 'stdout' ? 1 : 2, text);
		if (Date.now() - shownMs < SHOW_MS) return;
		shownMs = Date.now();
		show({ lines, dropped: 0 });
	};
	const query = { stream: choice === 'both' ? null : choice };
	getPieces(`benchmark/${uuid}.log`, query, abort.signal, take).then(
		() => {
			marked.end();
			show({ lines, dropped: 0, loading: false, error: null });
		},
		(error: Error) => abort.signal.aborted || show({ error, loading: false }),
	);
	return () => abort.abort();
}

function followLive(uuid: string, choice: OutputStream, show: Show): () => void {
	const live = liveRun(uuid);
	let lines = new OutputLines(LIVE_LINES);
	let seen = 0;
	return live.version.subscribe(() => {
		const { output } = live;
		if (output.end < seen) {
			lines = new OutputLines(LIVE_LINES);
			seen = 0;
		}
		if (output.end === seen && seen) return;
		for (const { stream, text } of output.since(seen))
			if (wants(choice, stream)) lines.push(stream, text);
		seen = output.end;
		show({ lines, dropped: output.dropped, loading: false, error: null });
	});
}

const NONE: Output = { lines: new OutputLines(), dropped: 0, loading: true, error: null };

/** The signal has a new value whenever lines arrive; the array of lines stays the same. */
export function useOutput(): ReadonlySignal<Output> & { again: () => void } {
	const made = useRef<ReadonlySignal<Output> & { again: () => void; follow: () => () => void }>();
	if (!made.current) {
		const now = signal<Output>(NONE);
		const tries = signal(0);
		// Not the run itself: it has a new value with every message about it.
		const source = computed(() => {
			const r = run.value;
			if (!r) return '';
			return [r.uuid, hasEnded(r) ? 'stored' : 'live', address.value.stream, tries.value].join(' ');
		});
		let shown = '';
		const follow = () => {
			const [uuid, kind, choice] = source.value.split(' ');
			if (!uuid) return () => {};
			// Live lines stay until the stored lines have arrived.
			const before = shown === uuid + choice ? now.peek() : NONE;
			shown = uuid + choice;
			now.value = { ...before, loading: true, error: null };
			const show: Show = (change) => (now.value = { ...now.peek(), ...change });
			return (kind === 'live' ? followLive : readStored)(uuid, choice as OutputStream, show);
		};
		made.current = Object.assign(now, { again: () => void tries.value++, follow });
	}
	const { follow } = made.current;
	useSignalEffect(follow);
	return made.current;
}

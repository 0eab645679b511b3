/* Questions to the server about a run. They are asked when they change, the old answer stays until
 * the new one arrives (so nothing flickers), and requests that nobody waits for are aborted. */
import {
	signal,
	useSignal,
	useSignalEffect,
	type ReadonlySignal,
	type Signal,
} from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { get, getColumns, getExact, getPages, type Query } from '../api/client';
import { onReturn } from './server';

export interface Question {
	/** benchmark/ID/flame */
	path: string;
	query: Query;
	/** Request large arrays as bytes. */
	columns?: boolean;
	/** Keep all digits of integers with more than 53 bits: as texts. */
	exact?: boolean;
	/** Ask again after this many ms: for runs that go on. */
	again?: number;
	/** The paged list of the answer (`next`, `before`): all pages are fetched. */
	pages?: string;
}

export interface Answer<T> {
	/** The newest answer; while `loading` the previous one, if its subject is the same. */
	data: T | null;
	/** The question that `data` answers. */
	of: Question | null;
	error: Error | null;
	loading: boolean;
}

const CACHE_MAX = 64;
const cache = new Map<string, unknown>();

/** Equal questions have equal keys. */
export function keyOf(q: Question): string {
	return q.path + '?' + JSON.stringify(q.query);
}

/** The subject of a question. The old answer stays only while the subject is the same. */
function aboutOf({ path, query }: Question): string {
	return JSON.stringify([path, query.before, query.after, query.function]);
}

/** Incremented to ask failed questions again. */
const attempt = signal(0);
export const attempts: ReadonlySignal<number> = attempt;

export function tryAgain(): void {
	attempt.value++;
}
onReturn(tryAgain);

function remember(key: string, data: unknown): void {
	cache.delete(key);
	cache.set(key, data);
	if (cache.size > CACHE_MAX) cache.delete(cache.keys().next().value!);
}

/** Drops cached answers about @run: its data has changed, or it was deleted. */
export function forget(run: string): void {
	for (const key of cache.keys()) if (key.includes(run)) cache.delete(key);
}

function askerOf<T>(q: Question) {
	return q.columns ? getColumns<T> : q.exact ? getExact<T> : get<T>;
}

/** Asks @q and puts the answer into @into. Returns a function that aborts this. */
function pursue<T>(q: Question, into: Signal<Answer<T>>): () => void {
	const abort = new AbortController();
	const key = keyOf(q);
	let timer = 0;
	const ask = async () => {
		try {
			const early = (data: T) => {
				if (!into.peek().data) into.value = { data, of: q, error: null, loading: true };
			};
			const data = q.pages
				? await getPages<T>(q.path, q.query, q.pages, abort.signal, early)
				: await askerOf<T>(q)(q.path, q.query, abort.signal);
			if (abort.signal.aborted) return;
			if (!q.again) remember(key, data);
			into.value = { data, of: q, error: null, loading: false };
		} catch (e) {
			if (abort.signal.aborted) return;
			const { data, of } = into.peek();
			const kept = of && keyOf(of) === key ? { data, of } : { data: null, of: null };
			into.value = { ...kept, error: e as Error, loading: false };
		}
		if (q.again && !abort.signal.aborted) timer = window.setTimeout(ask, q.again);
	};
	const known = q.again ? undefined : (cache.get(key) as T | undefined);
	if (known !== undefined) into.value = { data: known, of: q, error: null, loading: false };
	else {
		const before = into.peek();
		const same = before.of && aboutOf(before.of) === aboutOf(q);
		into.value = same
			? { ...before, loading: true }
			: { data: null, of: null, error: null, loading: true };
		void ask();
	}
	return () => {
		abort.abort();
		clearTimeout(timer);
	};
}

/** @make reads signals and returns the question, or null for none. It is called again when the
 * signals change and after each rendering, because it may use props of the component. */
export function useQuestion<T>(make: () => Question | null): ReadonlySignal<Answer<T>> {
	const answer = useRef<Signal<Answer<T>>>();
	answer.current ??= signal<Answer<T>>({ data: null, of: null, error: null, loading: true });
	const latest = useSignal(make);
	useEffect(() => {
		latest.value = make;
	});
	const last = useRef<{ key: string; stop: () => void }>();
	const tried = useRef(0);
	useSignalEffect(() => {
		const q = latest.value();
		const key = q ? keyOf(q) + (q.again ?? '') : '';
		const again = attempt.value !== tried.current && answer.current!.peek().error;
		tried.current = attempt.value;
		if (last.current?.key === key && !again) return;
		last.current?.stop();
		if (!q) answer.current!.value = { data: null, of: null, error: null, loading: false };
		last.current = { key, stop: q ? pursue(q, answer.current!) : () => {} };
	});
	useEffect(() => () => last.current?.stop(), []);
	return answer.current;
}

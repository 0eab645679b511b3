/* Questions to the server about a run: asked when they change, the old answer stays until the new one
 * is there (so nothing flickers), what nobody waits for any more is aborted. */
import { signal, useSignalEffect, type ReadonlySignal, type Signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { get, getColumns, getPages, type Query } from '../api/client';

export interface Question {
	/** benchmark/ID/flame */
	path: string;
	query: Query;
	/** Large arrays as bytes. */
	columns?: boolean;
	/** Ask again every so many ms: for runs that go on. */
	again?: number;
	/** The list of the answer that goes on over pages (`next`, `before`): all of them are asked for. */
	pages?: string;
}

export interface Answer<T> {
	/** The newest answer; while `loading` it is that of the question before. */
	data: T | null;
	/** The question that `data` answers. */
	of: Question | null;
	error: Error | null;
	loading: boolean;
}

const CACHE_MAX = 64;
const cache = new Map<string, unknown>();

function keyOf(q: Question): string {
	return q.path + '?' + JSON.stringify(q.query);
}

function remember(key: string, data: unknown): void {
	cache.delete(key);
	cache.set(key, data);
	if (cache.size > CACHE_MAX) cache.delete(cache.keys().next().value!);
}

/** What a run has is new, or it is gone. */
export function forget(run: string): void {
	for (const key of cache.keys()) if (key.includes(run)) cache.delete(key);
}

/** Asks @q and puts the answer into @into; the result aborts it. */
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
				: await (q.columns ? getColumns<T> : get<T>)(q.path, q.query, abort.signal);
			if (!q.again) remember(key, data);
			into.value = { data, of: q, error: null, loading: false };
		} catch (e) {
			if (abort.signal.aborted) return;
			into.value = { ...into.peek(), error: e as Error, loading: false };
		}
		if (q.again && !abort.signal.aborted) timer = window.setTimeout(ask, q.again);
	};
	const known = q.again ? undefined : (cache.get(key) as T | undefined);
	if (known !== undefined) into.value = { data: known, of: q, error: null, loading: false };
	else {
		into.value = { ...into.peek(), loading: true };
		void ask();
	}
	return () => {
		abort.abort();
		clearTimeout(timer);
	};
}

/** @make reads signals and gives the question, or null for none; it is called anew when they change. */
export function useQuestion<T>(make: () => Question | null): ReadonlySignal<Answer<T>> {
	const answer = useRef<Signal<Answer<T>>>();
	answer.current ??= signal<Answer<T>>({ data: null, of: null, error: null, loading: true });
	const latest = useRef(make);
	latest.current = make;
	const last = useRef<{ key: string; stop: () => void }>();
	useSignalEffect(() => {
		const q = latest.current();
		const key = q ? keyOf(q) + (q.again ?? '') : '';
		if (last.current?.key === key) return;
		last.current?.stop();
		if (!q) answer.current!.value = { data: null, of: null, error: null, loading: false };
		last.current = { key, stop: q ? pursue(q, answer.current!) : () => {} };
	});
	return answer.current;
}

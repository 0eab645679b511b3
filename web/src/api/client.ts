/* Requests to the server. Failures throw ApiError with the server's message, meant for people. */
import { decodeColumns } from './columns';
import { parseExact } from './exact';
import type { ErrorAnswer } from './types';

export const API = '/api/v1/';

export class ApiError extends Error {
	constructor(
		/** 0: no response. */
		readonly status: number,
		readonly code: string,
		message: string,
	) {
		super(message);
	}
}

type QueryValue = string | number | boolean | null | undefined;
export type Query = Record<string, QueryValue>;

/** `benchmark/ID/flame` and {from: 1} → the URL. Empty values are left out. */
export function apiPath(path: string, query: Query = {}): string {
	const words = new URLSearchParams();
	for (const [name, value] of Object.entries(query))
		if (value !== null && value !== undefined && value !== '') words.set(name, String(value));
	const text = words.toString();
	return API + path + (text ? '?' + text : '');
}

type AnswerListener = (status: number) => void;
const listeners: AnswerListener[] = [];

/** Calls @fn with the status of every response; 0 if there was none. */
export function onAnswer(fn: AnswerListener): void {
	listeners.push(fn);
}

/** Reports a response to the onAnswer() listeners, for requests made outside this file. */
export function tellAnswer(status: number): void {
	for (const fn of listeners) fn(status);
}

async function failure(answer: Response): Promise<ApiError> {
	try {
		const { error } = (await answer.json()) as ErrorAnswer;
		return new ApiError(answer.status, error.code, error.message);
	} catch {
		return new ApiError(answer.status, 'unknown', `The server answered ${answer.status}.`);
	}
}

async function ask(path: string, init: RequestInit): Promise<Response> {
	let answer: Response;
	try {
		answer = await fetch(path, { credentials: 'same-origin', ...init });
	} catch (e) {
		if ((e as Error).name === 'AbortError') throw e;
		tellAnswer(0);
		throw new ApiError(0, 'unreachable', 'The server does not answer. Is it still running?');
	}
	tellAnswer(answer.status);
	if (!answer.ok) throw await failure(answer);
	return answer;
}

export async function get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
	return (await (await ask(apiPath(path, query), { signal })).json()) as T;
}

/** Like get(), for rows of tables: integers that have more than 53 bits are texts (api/exact.ts). */
export async function getExact<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
	return parseExact(await (await ask(apiPath(path, query), { signal })).text()) as T;
}

/** Like get(), for answers with large arrays: the server sends them as bytes. */
export async function getColumns<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
	const answer = await ask(apiPath(path, { ...query, format: 'columns' }), { signal });
	return decodeColumns(await answer.arrayBuffer()) as T;
}

/** Joins @list of all pages (`next`); @early gets the pages so far while more are to come. */
export async function getPages<T>(
	path: string,
	query: Query,
	list: string,
	signal: AbortSignal,
	early?: (data: T) => void,
): Promise<T> {
	type Page = Record<string, unknown> & { next: string | null };
	let all = await get<Page>(path, query, signal);
	while (all.next) {
		early?.(all as T);
		const page = await get<Page>(path, { ...query, before: all.next }, signal);
		all = { ...page, [list]: [...(all[list] as unknown[]), ...(page[list] as unknown[])] };
	}
	return all as T;
}

/** Streams a long text: calls @take with each piece as it arrives. */
export async function getPieces(
	path: string,
	query: Query,
	signal: AbortSignal,
	take: (text: string) => void,
): Promise<void> {
	const answer = await ask(apiPath(path, query), { signal });
	const reader = answer.body!.getReader();
	const decoder = new TextDecoder();
	for (;;) {
		const { done, value } = await reader.read();
		take(decoder.decode(value, { stream: !done }));
		if (done) return;
	}
}

export async function send<T>(
	method: 'POST' | 'PATCH' | 'DELETE',
	path: string,
	body?: unknown,
	more: RequestInit = {},
): Promise<T> {
	const answer = await ask(API + path, {
		method,
		headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
		body: body === undefined ? undefined : JSON.stringify(body),
		...more,
	});
	return (answer.status === 204 ? undefined : await answer.json()) as T;
}

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

type Undo = typeof import('../src/state/undo');
type Toasts = typeof import('../src/state/toasts');

let leave: () => void;
const fetched = vi.fn<(path: string, init: RequestInit) => Promise<Response>>();
let undo: Undo;
let toasts: Toasts;

beforeEach(async () => {
	vi.useFakeTimers();
	vi.resetModules();
	vi.stubGlobal('window', globalThis);
	vi.stubGlobal('addEventListener', (kind: string, fn: () => void) => {
		if (kind === 'pagehide') leave = fn;
	});
	fetched.mockReset().mockResolvedValue(new Response(null, { status: 204 }));
	vi.stubGlobal('fetch', fetched);
	undo = await import('../src/state/undo');
	toasts = await import('../src/state/toasts');
});

afterEach(() => {
	vi.useRealTimers();
	vi.unstubAllGlobals();
});

describe('deleting with a way back', () => {
	it('hides at once and deletes when the message goes', async () => {
		undo.deleteWithUndo('benchmark/1', 'gone');
		expect(undo.gone.value.has('benchmark/1')).toBe(true);
		expect(fetched).not.toHaveBeenCalled();
		await vi.runAllTimersAsync();
		expect(fetched).toHaveBeenCalledOnce();
		expect(fetched.mock.calls[0]![0]).toBe('/api/v1/benchmark/1');
		expect(fetched.mock.calls[0]![1].method).toBe('DELETE');
		expect(undo.gone.value.has('benchmark/1')).toBe(true);
	});
	it('sends nothing when it is undone', async () => {
		const back = vi.fn();
		undo.deleteWithUndo('benchmark/1', 'gone', back);
		toasts.undoToast(toasts.toasts.value[0]!);
		await vi.runAllTimersAsync();
		leave();
		expect(fetched).not.toHaveBeenCalled();
		expect(back).toHaveBeenCalledOnce();
		expect(undo.gone.value.size).toBe(0);
	});
	it('deletes when the page is left, once', async () => {
		undo.deleteWithUndo('session/2', 'gone');
		leave();
		await vi.runAllTimersAsync();
		expect(fetched).toHaveBeenCalledOnce();
		expect(fetched.mock.calls[0]![1]).toMatchObject({ method: 'DELETE', keepalive: true });
	});
	it('brings it back when the server refuses, and says why', async () => {
		const body = JSON.stringify({ error: { code: 'x', message: 'It is in use.' } });
		fetched.mockResolvedValue(new Response(body, { status: 409 }));
		undo.deleteWithUndo('benchmark/1', 'gone');
		await vi.advanceTimersByTimeAsync(9000);
		expect(undo.gone.value.size).toBe(0);
		expect(toasts.toasts.value.map((t) => t.text)).toEqual(['It is in use.']);
	});
	it('deletes what had to make room for other messages', async () => {
		for (let i = 0; i < 5; i++) undo.deleteWithUndo('benchmark/' + i, 'gone');
		await vi.advanceTimersByTimeAsync(1);
		expect(fetched.mock.calls.map(([path]) => path)).toEqual(['/api/v1/benchmark/0']);
		expect(toasts.toasts.value).toHaveLength(4);
	});
});

it('messages stay while somebody reads them', async () => {
	toasts.toast('hello', { ms: 1000 });
	toasts.hold(true);
	await vi.advanceTimersByTimeAsync(60000);
	expect(toasts.toasts.value).toHaveLength(1);
	toasts.hold(false);
	await vi.advanceTimersByTimeAsync(1001);
	expect(toasts.toasts.value).toHaveLength(0);
});

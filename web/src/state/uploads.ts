/* Recordings that are being uploaded. */
import { signal } from '@preact/signals';
import { apiPath, tellAnswer } from '../api/client';
import type { Run } from '../api/types';
import { quoted } from '../logic/format';
import { address, go } from './address';
import { learn } from './runs';
import { mayRun } from './server';
import { toast } from './toasts';

interface Upload {
	id: number;
	name: string;
	sent: number;
	size: number;
	stop: () => void;
}

export const uploads = signal<Upload[]>([]);
let last = 0;

function update(id: number, change: Partial<Upload> | null): void {
	uploads.value = uploads.value
		.filter((u) => u.id !== id || change !== null)
		.map((u) => (u.id === id ? { ...u, ...change } : u));
}

function messageOf(request: XMLHttpRequest): string {
	try {
		return (JSON.parse(request.responseText) as { error: { message: string } }).error.message;
	} catch {
		return request.status
			? `The server answered ${request.status}.`
			: 'The server does not answer. Is it still running?';
	}
}

/** Uses XMLHttpRequest: only that reports how much has been sent. */
function send(file: File, session: string | null, id: number): Promise<Run> {
	return new Promise((done, fail) => {
		const request = new XMLHttpRequest();
		request.open('POST', apiPath('import', { session, name: file.name.slice(0, 255) }));
		request.setRequestHeader('Content-Type', 'application/octet-stream');
		request.upload.onprogress = (e) => update(id, { sent: e.loaded });
		request.onload = () => {
			tellAnswer(request.status);
			if (request.status < 300) done(JSON.parse(request.responseText) as Run);
			else fail(new Error(messageOf(request)));
		};
		request.onerror = () => {
			tellAnswer(0);
			fail(new Error(messageOf(request)));
		};
		request.onabort = () => fail(new DOMException('stopped', 'AbortError'));
		update(id, { stop: () => request.abort() });
		request.send(file);
	});
}

/** Imports into the open session, else into a new one. Opens the run when its import begins. */
export async function importFile(file: File): Promise<void> {
	if (!mayRun.value) {
		toast('Your token may only look: it cannot import recordings.', { kind: 'error' });
		return;
	}
	const id = ++last;
	const session = address.value.session;
	uploads.value = [
		...uploads.value,
		{ id, name: file.name, sent: 0, size: file.size, stop: () => {} },
	];
	try {
		const r = await send(file, session, id);
		learn(r);
		go({ session: r.session, run: r.uuid });
	} catch (e) {
		if ((e as Error).name !== 'AbortError')
			toast(`${quoted(file.name)} could not be imported: ${(e as Error).message}`, {
				kind: 'error',
			});
	} finally {
		update(id, null);
	}
}

/** Asks the user for the file. */
export function chooseFile(): void {
	const field = document.createElement('input');
	field.type = 'file';
	field.onchange = () => {
		for (const file of field.files ?? []) void importFile(file);
	};
	field.click();
}

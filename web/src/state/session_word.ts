/* How a command line names the open session: by title, or by id if the title is ambiguous. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get } from '../api/client';
import type { Sessions } from '../api/types';
import { session } from './runs';

/** Id → whether the title alone means another, newer session. */
const ambiguous = signal<ReadonlyMap<string, boolean>>(new Map());

/** `tacho run --session TITLE` takes the newest session of that title: checks that it is @uuid. */
async function checkTitle(uuid: string, title: string): Promise<void> {
	const { sessions } = await get<Sessions>('sessions', { search: title });
	const first = sessions.find((s) => s.title === title);
	ambiguous.value = new Map(ambiguous.peek()).set(uuid, first?.uuid !== uuid);
}

export function useSessionWord(): string | null {
	const { uuid, title } = session.value ?? {};
	useEffect(() => {
		if (uuid && title) checkTitle(uuid, title).catch(() => {});
	}, [uuid, title]);
	if (!uuid || !title) return null;
	return ambiguous.value.get(uuid) ? uuid : title;
}

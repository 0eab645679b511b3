/* The processes of the machine, to choose those to attach to. */
import { useEffect, useState } from 'preact/hooks';
import { getPages } from '../api/client';
import type { Processes, ProcessInfo } from '../api/types';

const PAUSE_MS = 120;
const PAGE = 1000;

/** All matching processes; there are rarely more than a few hundred. */
async function load(search: string, signal: AbortSignal): Promise<ProcessInfo[]> {
	const query = { search, limit: PAGE };
	return (await getPages<Processes>('processes', query, 'processes', signal)).processes;
}

export function useProcesses(search: string) {
	const [list, setList] = useState<ProcessInfo[] | null>(null);
	const [error, setError] = useState<Error | null>(null);
	const [turn, setTurn] = useState(0);
	useEffect(() => {
		const abort = new AbortController();
		const timer = setTimeout(
			() => {
				load(search.trim(), abort.signal)
					.then((found) => {
						setList(found);
						setError(null);
					})
					.catch((e: Error) => {
						if (!abort.signal.aborted) setError(e);
					});
			},
			list ? PAUSE_MS : 0,
		);
		return () => {
			clearTimeout(timer);
			abort.abort();
		};
	}, [search, turn]);
	return { list, error, refresh: () => setTurn(turn + 1) };
}

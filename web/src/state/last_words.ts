/* The last lines that a failed program has written to standard error: they often say it all. Of the
 * whole output only the end is kept here; the view of the output has its own (state/output.ts). */
import { useEffect, useState } from 'preact/hooks';
import { tailOfText } from '../api/tail';
import { lastLines } from '../logic/live/last_lines';

const LINES = 3;

export function useLastWords(run: string, wanted: boolean): string[] {
	const [lines, setLines] = useState<string[]>([]);
	useEffect(() => {
		setLines([]);
		if (!wanted) return;
		const abort = new AbortController();
		tailOfText(`benchmark/${run}.log`, { stream: 'stderr' }, abort.signal)
			.then((text) => setLines(lastLines(text, LINES)))
			.catch(() => {});
		return () => abort.abort();
	}, [run, wanted]);
	return lines;
}

/* The last lines that a failed program wrote to standard error: they often explain the failure.
 * Only the end of the output is kept here; the output view has its own copy (state/output.ts). */
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

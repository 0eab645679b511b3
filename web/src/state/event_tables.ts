/* The tables of the open run, such as the hits of a tracepoint with their fields, and queries about them. */
import { signal, useSignalEffect } from '@preact/signals';
import type { Query } from '../api/client';
import type { Table, Tables } from '../api/types';
import { eventTables, samplesTracepoints } from '../logic/rows/row_columns';
import { address } from './address';
import { useQuestion, type Question } from './questions';
import { isLive, run } from './runs';
import { LIVE_AGAIN_MS, selected } from './selection';

/** The event tables of the run with the id `run`; null until the first answer. */
const known = signal<{ run: string; tables: Table[] } | null>(null);

/** The event tables of the open run; null until the server has listed them. */
export function tablesOfRun(): Table[] | null {
	const uuid = run.value?.uuid;
	return known.value && known.value.run === uuid ? known.value.tables : null;
}

/** Keeps tablesOfRun() up to date. Used by the component that shows the tabs. */
export function useTablesOfRun(): void {
	const answer = useQuestion<Tables>(() => {
		const r = run.value;
		if (!r || r.state === 'queued') return null;
		const again = isLive(r) && samplesTracepoints(r.opened_events) ? LIVE_AGAIN_MS : undefined;
		return { path: `benchmark/${r.uuid}/table`, query: {}, again };
	});
	useSignalEffect(() => {
		const { data, of } = answer.value;
		if (!data || !of) return;
		const tables = eventTables(data.tables);
		const before = known.peek();
		const uuid = of.path.split('/')[1]!;
		// Do not redraw if neither the tables nor their numbers of rows have changed.
		if (JSON.stringify(before) !== JSON.stringify({ run: uuid, tables }))
			known.value = { run: uuid, tables };
	});
}

/** Queries the selected rows of @table that meet the condition: askTable('x:y', 'group', {by}). Does not send
 * the event chosen in other views: all rows of a table are of one event. */
export function askTable(
	table: string | null,
	kind: 'rows' | 'group' | 'histogram' | 'heatmap' | 'flame',
	more: Query,
): Question | null {
	if (!table) return null;
	const path = `table/${encodeURIComponent(table)}` + (kind === 'rows' ? '' : '/' + kind);
	const { where } = address.value;
	const weighed = kind === 'heatmap' || kind === 'flame';
	const question = selected(path, { ...more, where, event: null }, weighed);
	return question && { ...question, exact: kind === 'group' };
}

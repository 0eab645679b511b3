/* Files of a run to download, and what each is good for. */
import { useState } from 'preact/hooks';
import { apiPath, type Query } from '../../api/client';
import type { Run } from '../../api/types';
import { isLive } from '../../state/runs';
import { address } from '../../state/address';
import { filters, windowQuery } from '../../state/selection';
import { Part } from './details_part';

interface Format {
	/** File name extension. */
	end: string;
	name: string;
	use: string;
	query?: Query;
	/** The file can be limited to the selection. */
	selects?: boolean;
}

const FORMATS: Format[] = [
	{
		end: 'html',
		name: 'Report',
		use: 'One page with flame graph, counters and details, to send to somebody.',
		selects: true,
	},
	{
		end: 'svg',
		name: 'Flame graph',
		use: 'A picture to zoom and search in any browser.',
		selects: true,
	},
	{
		end: 'csv',
		name: 'Counters as CSV',
		use: 'A row for each reading, for a spreadsheet.',
		query: { what: 'counters' },
		selects: true,
	},
	{
		end: 'csv',
		name: 'Samples as CSV',
		use: 'A row for each sample, with its stack.',
		query: { what: 'samples' },
		selects: true,
	},
	{
		end: 'folded',
		name: 'Folded stacks',
		use: 'A line for each stack, for other flame graph tools.',
		selects: true,
	},
	{
		end: 'h5',
		name: 'HDF5',
		use: 'All tables, for Python (pandas, h5py), R or Matlab.',
		selects: true,
	},
	{ end: 'data', name: 'perf.data', use: 'For perf, hotspot, Firefox Profiler and other tools.' },
	{ end: 'json', name: 'JSON', use: 'What this page shows as details, for scripts.' },
	{ end: 'log', name: 'Output', use: 'What the program printed, both streams in order.' },
];

export function Downloads(props: { run: Run }) {
	const { run } = props;
	const [whole, setWhole] = useState(false);
	const selection: Query = { ...windowQuery(address.value.window), ...filters.value };
	const narrowed = Object.values(selection).some((v) => v !== null && v !== undefined);
	if (run.state === 'queued')
		return (
			<Part title="Files">
				<p class="dim">Files can be made as soon as the run has data.</p>
			</Part>
		);
	return (
		<Part title="Files">
			{narrowed && (
				<label class="downloads-choice">
					<input
						type="checkbox"
						checked={!whole}
						onChange={(e) => setWhole(!e.currentTarget.checked)}
					/>{' '}
					Only what is selected above, where the format allows it
				</label>
			)}
			{isLive(run) && <p class="dim small">The run goes on: files have what came in so far.</p>}
			<ul class="downloads">
				{FORMATS.map((f) => (
					<Download key={f.name} run={run} format={f} selection={whole ? {} : selection} />
				))}
			</ul>
		</Part>
	);
}

function Download(props: { run: Run; format: Format; selection: Query }) {
	const { run, format: f } = props;
	const query = { ...(f.selects ? props.selection : {}), ...f.query };
	const use =
		f.end === 'data'
			? `${f.use} ${run.raw ? 'Exactly as recorded.' : 'Made from what is stored.'}`
			: f.use;
	return (
		<li>
			<a class="button" href={apiPath(`benchmark/${run.uuid}.${f.end}`, query)} download>
				{f.name}
			</a>
			<span class="small dim">
				.{f.end} · {use}
			</span>
		</li>
	);
}

/* Choosing the processes to attach to. */
import { useState } from 'preact/hooks';
import type { ProcessInfo } from '../../api/types';
import { formatAgo, plural } from '../../logic/format';
import { orderProcesses, type ProcessOrder } from '../../logic/run/process_order';
import { formatDuration } from '../../logic/units';
import { change, draft } from '../../state/draft';
import { useProcesses } from '../../state/processes';
import { Field, Segments } from '../parts/form_parts';
import { Icon } from '../parts/icons';
import { Empty, Loading, Problem } from '../parts/states';
import { VirtualList } from '../parts/virtual';

const ROW_HEIGHT = 46;

function toggle(pid: number): void {
	const { pids } = draft.value;
	change({ pids: pids.includes(pid) ? pids.filter((p) => p !== pid) : [...pids, pid] });
}

function ProcessRow(props: { process: ProcessInfo; chosen: boolean; now: Date }) {
	const { process: p } = props;
	const details = [
		`pid ${p.pid}`,
		p.user,
		p.threads > 1 ? plural(p.threads, 'thread') : '',
		`${formatDuration(p.cpu_s * 1e9)} CPU`,
		formatAgo(p.started_at, props.now),
	];
	return (
		<div class="process" title={p.command}>
			<span class="tick" aria-hidden="true">
				{props.chosen ? '☑' : '☐'}
			</span>
			<span class="cut">
				<span class="mono small">{p.command}</span>
				<br />
				<span class="small dim">{details.filter(Boolean).join(' · ')}</span>
			</span>
		</div>
	);
}

function ChosenProcesses(props: { list: ProcessInfo[] | null }) {
	const { pids, tids } = draft.value;
	if (!pids.length && !tids.length) return null;
	const name = (pid: number) => props.list?.find((p) => p.pid === pid)?.comm ?? 'process';
	return (
		<ul class="event-chips" aria-label="Chosen processes">
			{pids.map((pid) => (
				<li key={pid}>
					<span class="chip event-chip chosen-process">
						<span class="cut">
							{name(pid)} <span class="number">{pid}</span>
						</span>
						<button
							type="button"
							class="plain remove"
							aria-label={`Remove process ${pid}`}
							onClick={() => toggle(pid)}
						>
							<Icon name="close" size={11} />
						</button>
					</span>
				</li>
			))}
			{tids.length > 0 && (
				<li>
					<span class="chip event-chip chosen-process">
						<span class="cut">threads {tids.join(', ')}</span>
						<button
							type="button"
							class="plain remove"
							aria-label="Remove the threads"
							onClick={() => change({ tids: [] })}
						>
							<Icon name="close" size={11} />
						</button>
					</span>
				</li>
			)}
		</ul>
	);
}

const ORDERS = [
	{
		value: 'cpu',
		text: 'Busiest',
		title: 'Those that used the most CPU time first, kernel threads last',
	},
	{ value: 'new', text: 'Newest', title: 'Those that started last first, kernel threads last' },
] as const;

export function Processes() {
	const [search, setSearch] = useState('');
	const [order, setOrder] = useState<ProcessOrder>('cpu');
	const { list, error, refresh } = useProcesses(search);
	const sorted = orderProcesses(list ?? [], order);
	const now = new Date();
	const isChosen = (i: number) => draft.value.pids.includes(sorted[i]!.pid);
	return (
		<Field name="pids" label="Processes">
			{(control) => (
				<>
					<ChosenProcesses list={list} />
					<input
						{...control}
						type="search"
						placeholder="Search command, user or pid …"
						autocomplete="off"
						spellcheck={false}
						value={search}
						onInput={(e) => setSearch(e.currentTarget.value)}
					/>
					<div class="process-tools">
						<Segments label="Order" value={order} choices={ORDERS} onChange={setOrder} />
						<button type="button" class="plain" onClick={refresh}>
							<Icon name="repeat" size={13} /> Refresh
						</button>
					</div>
					<div class="process-list">
						{error ? (
							<Problem error={error} again={refresh} />
						) : !list ? (
							<Loading what="Looking what runs …" />
						) : sorted.length ? (
							<VirtualList
								count={sorted.length}
								label="Processes that run"
								rowHeight={ROW_HEIGHT}
								keyOf={(i) => sorted[i]!.pid}
								chosen={isChosen}
								onPick={(i) => toggle(sorted[i]!.pid)}
								item={(i) => <ProcessRow process={sorted[i]!} chosen={isChosen(i)} now={now} />}
							/>
						) : (
							<Empty title="No process">
								<p>Nothing that runs has this in its command, user or pid.</p>
							</Empty>
						)}
					</div>
				</>
			)}
		</Field>
	);
}

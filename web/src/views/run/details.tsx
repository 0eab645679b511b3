/* Everything about a run except its data: what was run where, whether the data can be trusted, what
 * measuring has cost, and files to download. */
import type { LedgerAnswer, LedgerEntry, OpenedEvent, Run } from '../../api/types';
import { HOME } from '../../logic/address';
import { plural } from '../../logic/format';
import {
	eventRate,
	eventUse,
	machineFacts,
	whatRan,
	whenItRan,
	type Fact,
} from '../../logic/run/run_facts';
import { formatBytes, formatTime } from '../../logic/units';
import { go, link } from '../../state/address';
import { copyText } from '../../state/copy';
import { useQuestion } from '../../state/questions';
import { isLive, run } from '../../state/runs';
import { LIVE_AGAIN_MS } from '../../state/selection';
import { Part } from './details_part';
import { Downloads } from './downloads';
import { RunEdit } from './run_edit';
import { Loading } from '../parts/states';
import './details.css';

function CopyLink(props: { run: Run }) {
	const { session, uuid } = props.run;
	const url = location.origin + link({ ...HOME, session, run: uuid });
	return (
		<button
			type="button"
			title={url}
			onClick={() => copyText(url, 'The link to this run is copied.')}
		>
			Copy link to this run
		</button>
	);
}

export function DetailsView() {
	const answer = useQuestion<LedgerAnswer>(() => {
		const r = run.value;
		if (!r || r.state === 'queued') return null;
		const again = isLive(r) ? LIVE_AGAIN_MS : undefined;
		return { path: `benchmark/${r.uuid}/ledger`, query: {}, again };
	});
	const r = run.value;
	if (!r) return <Loading what="Looking up the run…" />;
	const { data } = answer.value;
	const waits = r.state === 'queued';
	return (
		<div class="details-view">
			<Trust run={r} answer={data} error={answer.value.error} />
			<div class="details-columns">
				<Part title={waits ? 'What will run' : 'What ran'}>
					<Facts facts={whatRan(r)} />
				</Part>
				<Part title={waits ? 'When' : 'When, and how it ended'}>
					<Facts facts={whenItRan(r, localTime)} />
				</Part>
				<Part title="Note and tags">
					<RunEdit key={r.uuid} run={r}>
						<CopyLink run={r} />
					</RunEdit>
				</Part>
				<Losses run={r} entries={data?.entries ?? []} />
				<Part title="Machine">
					{r.environment ? (
						<Facts facts={machineFacts(r.environment)} />
					) : (
						<p class="dim">
							{waits
								? 'It is written down when the run starts.'
								: 'It was not written down, because the run never began.'}
						</p>
					)}
				</Part>
			</div>
			<Events run={r} />
			<Notes notes={data?.notes ?? []} />
			<Downloads run={r} />
		</div>
	);
}

function localTime(at: string): string {
	return new Date(at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
}

function Facts(props: { facts: Fact[] }) {
	return (
		<dl class="details-facts">
			{props.facts.map((f) => (
				<div key={f.name}>
					<dt title={f.about}>{f.name}</dt>
					<dd>{f.code ? <code>{f.value}</code> : f.value}</dd>
				</div>
			))}
		</dl>
	);
}

/** The verdict on the data comes first: it matters most. */
function Trust(props: { run: Run; answer: LedgerAnswer | null; error: Error | null }) {
	const { run: r, answer } = props;
	if (r.state === 'queued')
		return <p class="trust">This run waits for its turn. What is known so far is below.</p>;
	if (!answer)
		return (
			<p class="trust">
				{props.error
					? `The server has not said what was lost: ${props.error.message}`
					: 'Looking up what was lost…'}
			</p>
		);
	const v = answer.verdict;
	if (!v)
		return (
			<p class="trust">
				{isLive(r) ? 'Nothing is known about losses yet.' : 'Nothing was measured.'}
			</p>
		);
	return (
		<p class={v.good ? 'trust is-good' : 'trust is-warn'}>
			<span aria-hidden="true">{v.good ? '✓' : '!'}</span>
			<span>
				<strong>{v.text}</strong> {v.more}
			</span>
		</p>
	);
}

function Losses(props: { run: Run; entries: LedgerEntry[] }) {
	const { run: r, entries } = props;
	if (!entries.length) return null;
	return (
		<Part title="What was lost, and what it cost">
			<dl class="losses">
				{entries.map((e) => (
					<Loss key={e.key} name={e.name} value={e.value} about={e.about} bad={e.bad} />
				))}
				<Loss
					name="Stored"
					value={formatBytes(r.bytes)}
					about={
						r.raw
							? 'In the server’s store; the perf.data itself is kept as well.'
							: 'In the server’s store.'
					}
				/>
			</dl>
		</Part>
	);
}

function Loss(props: { name: string; value: string; about?: string; bad?: boolean }) {
	return (
		<div class={props.bad ? 'is-bad' : ''}>
			<dt>{props.name}</dt>
			<dd>
				<span class="loss-value">
					{props.bad && <span aria-hidden="true">! </span>}
					{props.value}
				</span>
				{props.about && <span class="small dim">{props.about}</span>}
			</dd>
		</div>
	);
}

function Events(props: { run: Run }) {
	const events = props.run.opened_events;
	return (
		<Part title="Events as they were opened">
			{events?.length ? (
				<div
					class="details-scroll"
					tabIndex={0}
					role="region"
					aria-label="Events as they were opened"
				>
					<table>
						<thead>
							<tr>
								<th scope="col">Event</th>
								<th scope="col">Used</th>
								<th scope="col">How often sampled</th>
								<th scope="col">Type and number</th>
								<th scope="col">Problem</th>
							</tr>
						</thead>
						<tbody>
							{events.map((e, i) => (
								<EventRow key={i} event={e} />
							))}
						</tbody>
					</table>
				</div>
			) : (
				<p class="dim">
					{props.run.state === 'queued' ? 'None yet.' : 'No event could be opened.'}
				</p>
			)}
		</Part>
	);
}

function EventRow(props: { event: OpenedEvent }) {
	const e = props.event;
	const problem = e.problem ?? (e.supported === false ? 'not supported here' : null);
	return (
		<tr>
			<td>
				<code>{e.name}</code>
				{e.user_only === true && <span class="small dim"> only the program, not the kernel</span>}
			</td>
			<td>{eventUse(e)}</td>
			<td>{eventRate(e)}</td>
			<td class="mono small" title="As the kernel knows it (perf_event_attr)">
				{e.type ?? '–'} /{' '}
				{e.config === undefined ? '–' : '0x' + BigInt.asUintN(64, BigInt(e.config)).toString(16)}
			</td>
			<td>
				{problem ? <span class="problem">✗ {problem}</span> : <span class="fine">✓ none</span>}
			</td>
		</tr>
	);
}

/** Moments that tacho noted; a click zooms to the time around one. */
function Notes(props: { notes: LedgerAnswer['notes'] }) {
	const { notes } = props;
	if (!notes.length) return null;
	const around = (ns: number) => go({ zoom: { from: Math.max(0, ns - 5e8), to: ns + 5e8 } });
	return (
		<Part title={`What tacho noted: ${plural(notes.length, 'line')}`}>
			<ul class="details-notes">
				{notes.map((n, i) => (
					<li key={i}>
						<button class="plain" title="Show this time above" onClick={() => around(n.ns)}>
							{formatTime(n.ns, 1e6)}
						</button>
						<span>{n.text}</span>
					</li>
				))}
			</ul>
		</Part>
	);
}

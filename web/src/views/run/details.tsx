/* Everything about a run that is not its data: what was run where, whether the data can be trusted,
 * what measuring has cost, and the files to take away. */
import type { Ledger, OpenedEvent, Run } from '../../api/types';
import { HOME } from '../../logic/address';
import { plural } from '../../logic/format';
import { ledgerEntries, overhead, verdict } from '../../logic/run/ledger_words';
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

interface LedgerAnswer {
	ledger: Ledger | null;
	notes: { ns: number; text: string }[];
}

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
	// Of a run that goes on the question is newer; of one that has ended, the run has the last word.
	const ledger = isLive(r) ? (data?.ledger ?? r.ledger) : (r.ledger ?? data?.ledger ?? null);
	return (
		<div class="details-view">
			<Trust run={r} ledger={ledger} />
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
				<Losses run={r} ledger={ledger} />
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

/** The sentence that matters most comes first. */
function Trust(props: { run: Run; ledger: Ledger | null }) {
	const { run: r, ledger } = props;
	if (r.state === 'queued')
		return <p class="trust">This run waits for its turn. What is known so far is below.</p>;
	const v = verdict(ledger, r.opened_events);
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
				<strong>{isLive(r) && v.good ? 'Nothing was lost so far.' : v.text}</strong>{' '}
				{v.advice ??
					(r.import ? 'All samples of the file are here.' : 'All that was asked for was measured.')}
			</span>
		</p>
	);
}

function Losses(props: { run: Run; ledger: Ledger | null }) {
	const { run: r, ledger } = props;
	if (!ledger) return null;
	const cost = overhead(ledger, r.import ? null : (r.duration_s ?? r.progress?.elapsed_s ?? null));
	const samples = ledger.samples ?? r.samples;
	return (
		<Part title="What was lost, and what it cost">
			<dl class="losses">
				<Loss name="Samples taken" value={samples.toLocaleString('en')} />
				{ledgerEntries(ledger).map((e) => (
					<Loss key={e.name} {...e} />
				))}
				{cost && (
					<Loss
						name={r.import ? 'Reading the file' : 'tacho itself'}
						value={cost}
						about={
							r.import
								? 'What tacho used to read the file; the recording itself cost what its tool took.'
								: 'What measuring took. It runs beside the program, on whatever CPU is free.'
						}
					/>
				)}
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

/** Moments worth a look; a click shows what is around. */
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

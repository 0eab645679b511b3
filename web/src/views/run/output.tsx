/* The output of the program: coloured as in a terminal, searched, downloaded; live and stored. */
import { useSignal, type Signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { apiPath } from '../../api/client';
import type { Run } from '../../api/types';
import { STREAMS, type OutputStream } from '../../logic/address';
import { formatBytes } from '../../logic/units';
import { HITS_MAX, search, type Hit } from '../../logic/tables/output_rows';
import { address, go } from '../../state/address';
import { useOutput, type Output } from '../../state/output';
import { hasEnded, isLive, run } from '../../state/runs';
import { keep, recall } from '../../state/storage';
import { Lines } from './output_lines';
import { Empty, Loading, Problem } from '../parts/states';
import './output.css';

const NAMES: Record<OutputStream, string> = {
	both: 'Everything',
	stdout: 'Output',
	stderr: 'Errors',
};
const HINTS: Record<OutputStream, string> = {
	both: 'Standard output and standard error, in the order in which they came',
	stdout: 'Standard output only',
	stderr: 'Standard error only: where programs say what went wrong',
};
const SEARCH_MS = 150;

function Streams() {
	const { stream } = address.value;
	return (
		<div class="segments" role="group" aria-label="What is shown">
			{STREAMS.map((name) => (
				<button
					key={name}
					title={HINTS[name]}
					aria-pressed={name === stream}
					onClick={() => go({ stream: name })}
				>
					{NAMES[name]}
				</button>
			))}
		</div>
	);
}

function found(count: number, at: number): string {
	if (!count) return 'Not found';
	const more = count === HITS_MAX ? '+' : '';
	return `${at + 1} of ${count.toLocaleString('en')}${more}`;
}

function Search(props: {
	words: string;
	/** The words that `hits` belong to; older than `words` while the user types. */
	searched: string;
	setWords: (words: string) => void;
	hits: Hit[];
	at: number;
	move: (by: number) => void;
}) {
	const { words, hits, at, move } = props;
	return (
		<div class="search" role="search">
			<input
				type="search"
				placeholder="Search"
				aria-label="Search the output"
				value={words}
				onInput={(e) => props.setWords(e.currentTarget.value)}
				onKeyDown={(e) => e.key === 'Enter' && move(e.shiftKey ? -1 : 1)}
			/>
			<span class="small dim count" role="status">
				{words && words === props.searched && found(hits.length, at)}
			</span>
			<button onClick={() => move(-1)} disabled={!hits.length} aria-label="Previous">
				↑
			</button>
			<button onClick={() => move(1)} disabled={!hits.length} aria-label="Next">
				↓
			</button>
		</div>
	);
}

function Download(props: { uuid: string }) {
	const stream = address.value.stream === 'both' ? null : address.value.stream;
	const name = `${stream ?? 'output'}-${props.uuid.slice(0, 8)}.log`;
	return (
		<a class="button" href={apiPath(`benchmark/${props.uuid}.log`, { stream })} download={name}>
			Download
		</a>
	);
}

/** Notes about output that is not among the lines. */
function Notes(props: { r: Run; output: Output }) {
	const { r, output } = props;
	const cut = r.ledger?.warnings?.find((w) => w.key === 'output_dropped_bytes');
	return (
		<>
			{cut && <p class="note warn">{cut.sentence}</p>}
			{isLive(r) && output.dropped > 0 && (
				<p class="note">
					{formatBytes(output.dropped)} before this are shown when the run has ended; Download has
					them now.
				</p>
			)}
		</>
	);
}

function ending(r: Run): string {
	if (r.timed_out) return 'The program was ended: its time was over.';
	if (r.signal) return `The program was ended by signal ${r.signal}.`;
	if (r.exit_status) return `The program ended with status ${r.exit_status}: it says it failed.`;
	return r.exit_status === 0 ? 'The program ended without an error.' : '';
}

function Nothing(props: { r: Run }) {
	const { r } = props;
	if (!hasEnded(r))
		return (
			<Empty title="The program has printed nothing yet">
				<p>What it prints appears here at once.</p>
			</Empty>
		);
	if (r.argv.length === 0 && !r.workload)
		return (
			<Empty title="No output belongs to this run">
				<p>It measured programs that were already running, or was imported.</p>
			</Empty>
		);
	const { stream } = address.value;
	return (
		<Empty title="The program has printed nothing.">
			<p>{stream === 'both' ? ending(r) : `Nothing on ${HINTS[stream].toLowerCase()}.`}</p>
			{stream !== 'both' && <button onClick={() => go({ stream: 'both' })}>Show everything</button>}
		</Empty>
	);
}

/** Searches when typing has paused, and again when lines have arrived. */
function useHits(output: Output, words: string): { hits: Hit[]; searched: string } {
	const searched = useSignal('');
	useEffect(() => {
		const timer = setTimeout(() => (searched.value = words), SEARCH_MS);
		return () => clearTimeout(timer);
	}, [words]);
	const hits = useMemo(() => search(output.lines.lines, searched.value), [output, searched.value]);
	return { hits, searched: searched.value };
}

const WRAP_KEY = 'output.wrap';

function Wrap(props: { wrap: Signal<boolean> }) {
	const { wrap } = props;
	const turn = () => {
		wrap.value = !wrap.value;
		keep(WRAP_KEY, wrap.value ? 'yes' : 'no');
	};
	return (
		<button aria-pressed={wrap.value} title="Long lines go on in the next row" onClick={turn}>
			Wrap lines
		</button>
	);
}

function Follow(props: { follow: Signal<boolean> }) {
	const { follow } = props;
	const turn = () => (follow.value = !follow.value);
	return (
		<button aria-pressed={follow.value} title="Keep the newest line in sight" onClick={turn}>
			Follow the end
		</button>
	);
}

export function OutputView() {
	const r = run.value!;
	const source = useOutput();
	const output = source.value;
	const words = useSignal('');
	const at = useSignal(0);
	const wrap = useSignal(recall(WRAP_KEY) !== 'no');
	const follow = useSignal(isLive(r));
	const { hits, searched } = useHits(output, words.value);
	const moved = useRef(searched);
	if (moved.current !== searched) {
		moved.current = searched;
		at.value = 0;
	}
	const current = hits[Math.min(at.value, hits.length - 1)] ?? null;
	const key = current && `${current.line}:${current.start}`;
	const shown = useMemo(() => current, [key]);
	const move = (by: number) => {
		if (hits.length) at.value = (at.value + by + hits.length) % hits.length;
		follow.value = false;
	};
	if (output.error && !output.lines.lines.length)
		return <Problem error={output.error} again={source.again} />;
	const none = !output.lines.lines.length;
	if (none && output.loading && hasEnded(r)) return <Loading what="Reading what was printed…" />;
	return (
		<div class="output">
			<div class="output-bar">
				<Streams />
				<Search
					words={words.value}
					searched={searched}
					setWords={(text) => (words.value = text)}
					hits={hits}
					at={at.value}
					move={move}
				/>
				<Wrap wrap={wrap} />
				{isLive(r) && <Follow follow={follow} />}
				<Download uuid={r.uuid} />
			</div>
			<Notes r={r} output={output} />
			{none ? (
				<Nothing r={r} />
			) : (
				<Lines
					lines={output.lines}
					marked={address.value.stream === 'both'}
					wrap={wrap.value}
					follow={follow.value && isLive(r)}
					setFollow={(now) => (follow.value = now)}
					hits={hits}
					length={searched.length}
					current={shown}
				/>
			)}
			{hasEnded(r) && !none && ending(r) && <p class="note">{ending(r)}</p>}
		</div>
	);
}

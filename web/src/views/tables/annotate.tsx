/* The code of one function, with the share of its samples at each line and instruction. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { AnnotatedFunction, Annotation } from '../../api/types';
import {
	codeRows,
	codeText,
	hottestRows,
	possibleViews,
	type CodeRow,
	type CodeView,
} from '../../logic/tables/annotation';
import { plural } from '../../logic/format';
import { formatShare } from '../../logic/units';
import { address, go } from '../../state/address';
import { copyText } from '../../state/copy';
import { useShortcut } from '../../state/keys';
import { useQuestion } from '../../state/questions';
import { selected } from '../../state/selection';
import { dark } from '../../state/theme';
import { px } from '../../state/scale';
import { NoAnswer } from '../parts/no_answer';
import { Empty, Loading } from '../parts/states';
import './annotate.css';

const ROW_HEIGHT = 20;
/** Rows drawn above and below the visible ones. */
const SPARE = 20;
const VIEW_WORDS: Record<CodeView, string> = {
	both: 'Both',
	source: 'Source',
	assembly: 'Assembly',
};

function close(): void {
	go({ annotate: null });
}

function Row(props: { row: CodeRow; at: number; hottest: number; current: boolean }) {
	const { row, at, hottest, current } = props;
	return (
		<div
			class={`code-row ${row.kind}${current ? ' current' : ''}`}
			role="row"
			aria-rowindex={at + 1}
			style={{ top: `${at * px(ROW_HEIGHT)}px` }}
		>
			<span role="cell" class="code-share number" title={plural(row.samples, 'sample')}>
				{row.share > 0 && (
					<>
						<span class="code-bar" style={{ width: `${(row.share / hottest) * 100}%` }} />
						<span>{formatShare(row.share)}</span>
					</>
				)}
			</span>
			<span role="cell" class="code-place">
				{row.place}
			</span>
			<span role="cell" class="code-text">
				{row.text}
				{row.remark && <span class="code-remark">{row.remark}</span>}
			</span>
		</div>
	);
}

/** Shows at a glance where the function is hot; a click goes there. */
function MiniMap(props: { rows: CodeRow[]; hottest: number; onPick: (row: number) => void }) {
	const { rows, hottest, onPick } = props;
	const canvas = useRef<HTMLCanvasElement>(null);
	const isDark = dark.value;
	useLayoutEffect(() => {
		const element = canvas.current!;
		const context = element.getContext('2d')!;
		const height = (element.height = Math.max(1, element.clientHeight));
		element.width = 16;
		context.fillStyle = getComputedStyle(element).getPropertyValue('--second');
		rows.forEach((row, at) => {
			if (!row.share) return;
			const width = Math.max(2, (row.share / hottest) * 16);
			context.fillRect(
				16 - width,
				(at / rows.length) * height,
				width,
				Math.max(2, height / rows.length),
			);
		});
	}, [rows, isDark]);
	return (
		<canvas
			ref={canvas}
			class="code-map"
			aria-hidden="true"
			onClick={(e) => onPick(Math.floor((e.offsetY / e.currentTarget.clientHeight) * rows.length))}
		/>
	);
}

function Rows(props: { rows: CodeRow[]; current: number }) {
	const { rows, current } = props;
	const list = useRef<HTMLDivElement>(null);
	const [seen, setSeen] = useState({ from: 0, to: 60 });
	const look = () => {
		const { scrollTop, clientHeight } = list.current!;
		const from = Math.max(0, Math.floor(scrollTop / px(ROW_HEIGHT)) - SPARE);
		const to = Math.ceil((scrollTop + clientHeight) / px(ROW_HEIGHT)) + SPARE;
		if (from !== seen.from || to !== seen.to) setSeen({ from, to });
	};
	useLayoutEffect(() => {
		const { clientHeight } = list.current!;
		list.current!.scrollTop = Math.max(0, current * px(ROW_HEIGHT) - clientHeight / 2);
		look();
	}, [rows, current]);
	const hottest = rows.reduce((most, row) => Math.max(most, row.share), 1e-9);
	return (
		<div
			ref={list}
			class="code-rows mono"
			role="table"
			aria-label="Code"
			aria-rowcount={rows.length}
			tabIndex={0}
			onScroll={look}
		>
			<div role="rowgroup" style={{ height: `${rows.length * px(ROW_HEIGHT)}px` }}>
				{rows.slice(seen.from, seen.to).map((row, i) => (
					<Row
						key={seen.from + i}
						row={row}
						at={seen.from + i}
						hottest={hottest}
						current={seen.from + i === current}
					/>
				))}
			</div>
		</div>
	);
}

function Code(props: { code: AnnotatedFunction; view: CodeView }) {
	const rows = useMemo(() => codeRows(props.code, props.view), [props.code, props.view]);
	const hot = useMemo(() => hottestRows(rows), [rows]);
	const [at, setAt] = useState(0);
	const [picked, setPicked] = useState<number | null>(null);
	useEffect(() => {
		setAt(0);
		setPicked(null);
	}, [rows]);
	const step = (by: number) => {
		if (!hot.length) return;
		setPicked(null);
		setAt((old) => (old + by + hot.length) % hot.length);
	};
	useShortcut({ keys: 'n', what: 'Next hottest line', where: 'Code', run: () => step(1) });
	useShortcut({ keys: 'p', what: 'Hotter line before', where: 'Code', run: () => step(-1) });
	const copy = () => copyText(codeText(rows), 'The code is on the clipboard.');
	const hottest = hot.length ? rows[hot[0]!]!.share : 1;
	return (
		<>
			<div class="code-jump">
				<button onClick={() => step(-1)} disabled={hot.length < 2} title="Key p">
					↑ Hotter
				</button>
				<button onClick={() => step(1)} disabled={hot.length < 2} title="Key n">
					↓ Next hottest
				</button>
				<span class="small dim">
					{hot.length ? `${at + 1} of ${hot.length} with samples` : 'no samples in this code'}
				</span>
				<button onClick={copy}>Copy</button>
			</div>
			<div class="code-body">
				<Rows rows={rows} current={picked ?? hot[at] ?? 0} />
				<MiniMap rows={rows} hottest={hottest} onPick={setPicked} />
			</div>
		</>
	);
}

function NoCode(props: { code: AnnotatedFunction | undefined; name: string }) {
	const { code, name } = props;
	return (
		<Empty title={code ? 'There is no code to show' : `${name} was not sampled here`}>
			<p>{code?.problem ?? 'Widen the window, or choose another function.'}</p>
			<div class="actions">
				<button onClick={close}>Back to the flame graph</button>
			</div>
		</Empty>
	);
}

function Notes(props: { notes: string[] }) {
	if (!props.notes.length) return null;
	return (
		<details class="code-notes small">
			<summary>{plural(props.notes.length, 'note')} about this code</summary>
			<ul>
				{props.notes.map((note) => (
					<li key={note}>{note}</li>
				))}
			</ul>
		</details>
	);
}

export function AnnotatePanel() {
	const [name = '', module = ''] = (address.value.annotate ?? '').split('\n');
	const answer = useQuestion<Annotation>(() => {
		const [f, m] = (address.value.annotate ?? '').split('\n');
		return f ? selected('annotate', { function: f, module: m }) : null;
	});
	const [wanted, setWanted] = useState<CodeView>('both');
	useShortcut({ keys: 'Escape', what: 'Close the code', where: 'Code', run: close });
	const { data, error, loading } = answer.value;
	const code = data?.functions[0];
	const views = code ? possibleViews(code) : [];
	const view = views.includes(wanted) ? wanted : views[0];
	return (
		<section class="annotate" aria-label={`Code of ${name}`} aria-busy={loading}>
			<header>
				<button onClick={close} title="Key Esc">
					← Flame graph
				</button>
				<h2 class="mono cut" title={name}>
					{name}
				</h2>
				<span class="small dim cut">{module}</span>
				{code && (
					<span class="small">
						{formatShare(code.share_of_all_pct / 100)} of all, {plural(code.samples, 'sample')} in
						it itself
					</span>
				)}
				{views.length > 1 && (
					<div class="segments" role="group" aria-label="What to show">
						{views.map((v) => (
							<button key={v} aria-pressed={v === view} onClick={() => setWanted(v)}>
								{VIEW_WORDS[v]}
							</button>
						))}
					</div>
				)}
			</header>
			{error && !loading ? (
				<NoAnswer error={error} />
			) : !data ? (
				<Loading what="Fetching the code …" />
			) : code && view ? (
				<>
					<Notes notes={code.notes} />
					<Code code={code} view={view} />
				</>
			) : (
				<NoCode code={code} name={name} />
			)}
		</section>
	);
}

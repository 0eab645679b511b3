/* Source of the timeline's plots: a question to the server about the visible range or, while a run
 * goes on, its stream. Either puts them into state/timeline.ts, from where they are drawn. */
import { batch, useSignal, useSignalEffect, type ReadonlySignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Timeline } from '../../api/types';
import type { Window } from '../../logic/address';
import { makePlots, storedPlots, type RawLine } from '../../logic/timeline/timeline_plots';
import { askRange, steadyPixels } from '../../logic/timeline/timeline_range';
import { address } from '../../state/address';
import { liveRun, type LiveCounter } from '../../state/live';
import { useQuestion, type Answer } from '../../state/questions';
import { hasEnded, isLive, run } from '../../state/runs';
import {
	learnEnd,
	marks,
	plots,
	plotsOf,
	plotWidth,
	stayAfterEnd,
	visible,
	whole,
} from '../../state/timeline';

const ASK_EVERY_MS = 80;
/** The width is requested in steps, so that resizing does not ask for every pixel. */
const PIXEL_STEP = 100;
/** A live graph is looked at, not read: it has one point for this many pixels. */
const LIVE_PIXELS_A_POINT = 3;
/** After each drawing there is a pause of at least this many times its duration. */
const LIVE_REST = 6;

/** The range to request: follows the visible range, at most every ASK_EVERY_MS. */
export function useAskedRange() {
	const asked = useSignal<Window | null>(null);
	const timer = useRef(0);
	const of = useRef<string>();
	useSignalEffect(() => {
		const uuid = run.value?.uuid;
		if (uuid !== of.current) {
			of.current = uuid;
			asked.value = askRange(null, visible.value, whole.value);
		}
		void visible.value;
		void whole.value;
		if (timer.current) return;
		timer.current = window.setTimeout(() => {
			timer.current = 0;
			asked.value = askRange(asked.peek(), visible.peek(), whole.peek());
		}, ASK_EVERY_MS);
	});
	return asked;
}

/** The question about a run that has ended. */
function useStored(): ReadonlySignal<Answer<Timeline>> {
	const asked = useAskedRange();
	return useQuestion<Timeline>(() => {
		const r = run.value;
		if (!r || !hasEnded(r) || !plotWidth.value) return null;
		const { threads, pids, cpus, frames } = address.value;
		const pixels = Math.ceil(plotWidth.value / PIXEL_STEP) * PIXEL_STEP;
		const range = asked.value;
		return {
			path: `benchmark/${r.uuid}/timeline`,
			query: {
				...(range ? { from: range.from, to: range.to } : {}),
				pixels: range ? pixels * 2 : pixels,
				samples: true,
				threads,
				pids,
				cpus,
				frames,
			},
			columns: true,
		};
	});
}

function liveLines(counters: LiveCounter[], shown: Window): RawLine[] {
	const grid = steadyPixels(shown, plotWidth.peek() / LIVE_PIXELS_A_POINT);
	return counters.map((c) => ({
		name: c.name,
		unit: c.unit,
		scale: c.scale,
		cpu: c.cpu,
		...c.line(grid.from, grid.to, grid.points),
	}));
}

function drawLive(uuid: string): void {
	const live = liveRun(uuid);
	batch(() => {
		learnEnd(uuid, live.nowNs);
		const shown = visible.value;
		plots.value = makePlots(liveLines(live.rates, shown), liveLines(live.counters, shown));
		plotsOf.value = uuid;
		marks.value = live.marks;
	});
}

/** Calls @then when the drawing is on the screen. */
function afterFrame(then: () => void): void {
	requestAnimationFrame(() => setTimeout(then));
}

interface Drawn {
	run: string;
	shown: Window;
	width: number;
	version: number;
}

function isDrawn(last: Drawn | undefined, now: Drawn): boolean {
	return (
		last?.run === now.run &&
		last.version === now.version &&
		last.width === now.width &&
		last.shown.from === now.shown.from &&
		last.shown.to === now.shown.to
	);
}

function useLive(): void {
	const waiting = useRef(false);
	const restUntil = useRef(0);
	const last = useRef<Drawn>();
	useSignalEffect(() => {
		const r = run.value;
		const width = plotWidth.value;
		if (r && last.current?.run === r.uuid && hasEnded(r)) {
			stayAfterEnd(last.current.shown);
			last.current = undefined;
		}
		if (!r || !isLive(r) || !width) return;
		void liveRun(r.uuid).version.value;
		void visible.value;
		if (waiting.current) return;
		waiting.current = true;
		setTimeout(() => {
			waiting.current = false;
			if (run.peek()?.uuid !== r.uuid || !isLive(run.peek()!)) return;
			// Drawing moves the visible range, which must not cause another drawing.
			const version = liveRun(r.uuid).version.peek();
			const shown = visible.peek();
			if (isDrawn(last.current, { run: r.uuid, shown, width, version })) return;
			const begin = performance.now();
			drawLive(r.uuid);
			last.current = { run: r.uuid, shown: visible.peek(), width, version };
			// If drawing is slow, draw less often: this may be the measured machine.
			afterFrame(() => {
				const end = performance.now();
				restUntil.current = end + LIVE_REST * (end - begin);
			});
		}, restUntil.current - performance.now());
	});
}

/** Fills `plots` and `marks`. Returns the answer to the question. */
export function useTimelineData(): ReadonlySignal<Answer<Timeline>> {
	const answer = useStored();
	useLive();
	useSignalEffect(() => {
		const { data, of } = answer.value;
		const r = run.value;
		if (!r || !data || of?.path !== `benchmark/${r.uuid}/timeline`) return;
		batch(() => {
			if (of.query.to === undefined) learnEnd(r.uuid, data.to_ns);
			plots.value = storedPlots(data);
			plotsOf.value = r.uuid;
			marks.value = data.marks;
		});
	});
	return answer;
}

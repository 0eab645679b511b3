/* Sparklines of runs: requested when they become visible, kept when the run has ended. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { getColumns } from '../api/client';
import type { Run, Timeline } from '../api/types';
import { sparkCounter, sparkValues } from '../logic/timeline/spark';
import { address } from './address';
import { liveRun, type LiveCounter } from './live';
import { hasEnded, isLive } from './runs';

const PIXELS = 60;
const AGAIN_MS = 2000;
const LIVE_AGAIN_MS = 500;
const KEPT_MAX = 500;
const kept = new Map<string, (number | null)[]>();

async function ask(run: Run, signal: AbortSignal): Promise<(number | null)[]> {
	const counter = sparkCounter(run);
	// A run that has just begun, or failed at once, has no counters: ask for samples, too.
	const query = { pixels: PIXELS, samples: counter === null };
	const timeline = await getColumns<Timeline>(`benchmark/${run.uuid}/timeline`, query, signal);
	return sparkValues(timeline, counter);
}

/** The open run streams in anyway: needs no request. */
function ofStream(run: Run): (number | null)[] {
	const { counters, rates, nowNs } = liveRun(run.uuid);
	const line = (c: LiveCounter) => c.line(0, nowNs, PIXELS).mean;
	return sparkValues(
		{
			counters: counters.map((c) => ({ name: c.name, mean: line(c) })),
			samples: rates.map((c) => ({ rate: line(c) })),
		},
		sparkCounter(run) ?? counters[0]?.name ?? null,
	);
}

function keep(uuid: string, values: (number | null)[]): void {
	kept.set(uuid, values);
	if (kept.size > KEPT_MAX) kept.delete(kept.keys().next().value!);
}

/** Requests the line of @run, repeatedly while it goes on. Returns a function that ends this. */
function pursue(run: Run, set: (values: (number | null)[]) => void): () => void {
	const abort = new AbortController();
	let timer = 0;
	const turn = async () => {
		const streams = isLive(run) && address.peek().run === run.uuid;
		try {
			const here = streams ? ofStream(run) : [];
			const values = here.length ? here : await ask(run, abort.signal);
			if (abort.signal.aborted) return;
			if (hasEnded(run)) keep(run.uuid, values);
			set(values);
		} catch {
			// The user can do nothing about a missing line.
		}
		if (!hasEnded(run) && !abort.signal.aborted)
			timer = window.setTimeout(turn, streams ? LIVE_AGAIN_MS : AGAIN_MS);
	};
	void turn();
	return () => {
		abort.abort();
		clearTimeout(timer);
	};
}

/** The values of a run's line, null until they arrive; @ref: the element that must be visible. */
export function useSpark(run: Run) {
	const ref = useRef<HTMLDivElement>(null);
	const [seen, setSeen] = useState(false);
	const [values, setValues] = useState<(number | null)[] | null>(kept.get(run.uuid) ?? null);
	useEffect(() => {
		const observer = new IntersectionObserver((entries) =>
			setSeen(entries.some((e) => e.isIntersecting)),
		);
		observer.observe(ref.current!);
		return () => observer.disconnect();
	}, []);
	useEffect(() => {
		if (!seen || run.state === 'queued' || kept.has(run.uuid)) return;
		return pursue(run, setValues);
	}, [seen, run.uuid, run.state, run.opened_events === null]);
	return { ref, values };
}

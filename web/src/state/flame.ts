/* What the flame graph is about: the answer of the server to the selection, or, while a run goes on and
 * nothing is selected, what has streamed in so far. */
import {
	computed,
	signal,
	useSignalEffect,
	type ReadonlySignal,
	type Signal,
} from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Flame } from '../api/types';
import { takesSamples } from '../logic/timeline/sampled';
import { address } from './address';
import { width } from './layout';
import { liveRun } from './live';
import { useQuestion, type Answer } from './questions';
import { isLive, run } from './runs';
import { selected } from './selection';

/** So many boxes can be drawn without anybody waiting. */
const MOST_NODES = 100000;
/** Share of what is in sight below which a box is a fraction of a pixel broad. */
const LIGHT = 0.0005;

/** Nothing but the run itself is asked for, so what streams in is the whole answer. */
const growing = computed<string | null>(() => {
	const { window, threads, pids, cpus, frames, mode } = address.value;
	const r = run.value;
	const narrowed = window || threads || pids || cpus || frames;
	return r && isLive(r) && !narrowed && mode === 'plain' ? r.uuid : null;
});

/** Phones show the beginning of the graph on their first screen: that is to be its root. */
export const rootPlace = computed<'top' | 'bottom'>(() => {
	const { root } = address.value;
	return root !== 'auto' ? root : width.value === 'phone' ? 'top' : 'bottom';
});

/** What part of the whole is zoomed to. The closer, the lighter are the boxes that are asked for. */
export const zoomedShare = signal(1);

/** Share of the whole below which boxes are left out; in steps, so that not every zoom asks anew. */
export const lightest = computed(() =>
	address.value.light ? 0 : LIGHT / 4 ** Math.floor(Math.log(1 / zoomedShare.value) / Math.log(4)),
);

function liveFlame(uuid: string, wanted: string | null): Flame {
	const live = liveRun(uuid);
	const event = wanted ?? live.shownEvent;
	const tree = live.tree(event);
	return { event, unit: null, samples: 0, names: live.names, ...tree };
}

/** As the run grows. */
function useGrowing(): ReadonlySignal<Flame | null> {
	const shown = useRef<Signal<Flame | null>>();
	shown.current ??= signal<Flame | null>(null);
	useSignalEffect(() => {
		const uuid = growing.value;
		const { event } = address.value;
		if (!uuid) {
			shown.current!.value = null;
			return;
		}
		void liveRun(uuid).version.value;
		const timer = setTimeout(() => (shown.current!.value = liveFlame(uuid, event)));
		return () => clearTimeout(timer);
	});
	return shown.current;
}

/** All nodes while one searches: light ones add up, and their share is to be right. Else none. */
export function useEveryNode(hidden: number): ReadonlySignal<Answer<Flame>> {
	return useQuestion<Flame>(() => {
		const { mode, search } = address.value;
		if (!search || !hidden || (mode !== 'plain' && mode !== 'inverted')) return null;
		return selected('flame', { mode, min: 0, limit: MOST_NODES }, true);
	});
}

export function useFlame(): ReadonlySignal<Answer<Flame>> {
	const asked = useQuestion<Flame>(() => {
		const { mode, function: name, module } = address.value;
		if (growing.value || (mode === 'sandwich' && !name)) return null;
		if (run.value && !takesSamples(run.value)) return null;
		const about = mode === 'sandwich' ? { function: name, module } : {};
		const size = mode === 'ordered' ? {} : { min: lightest.value, limit: MOST_NODES };
		return selected('flame', { mode, ...about, ...size }, true);
	});
	const grown = useGrowing();
	const both = useRef<ReadonlySignal<Answer<Flame>>>();
	both.current ??= computed(() => {
		if (!growing.value) return asked.value;
		return { data: grown.value, of: null, error: null, loading: !grown.value };
	});
	return both.current;
}

/* Data of the flame graph: the server's answer for the selection or, while a run goes on and
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

/** Limit up to which boxes are drawn without a noticeable delay. */
export const MOST_NODES = 100000;
/** Boxes below this share of the visible part are a fraction of a pixel wide. */
const LIGHT = 0.0005;

/** The live run if shown unfiltered: the stream then has the whole answer. Otherwise null. */
const growing = computed<string | null>(() => {
	const { window, threads, pids, cpus, frames, mode } = address.value;
	const r = run.value;
	const narrowed = window || threads || pids || cpus || frames;
	return r && isLive(r) && !narrowed && mode === 'plain' ? r.uuid : null;
});

/** On phones the root is at the top, so that it is on the first screen. */
export const rootPlace = computed<'top' | 'bottom'>(() => {
	const { root } = address.value;
	return root !== 'auto' ? root : width.value === 'phone' ? 'top' : 'bottom';
});

/** The share of the whole that is zoomed to. The smaller it is, the lighter boxes are requested. */
export const zoomedShare = signal(1);

/** Boxes below this share of the whole are left out. In steps: not every zoom asks again. */
export const lightest = computed(() =>
	address.value.light ? 0 : LIGHT / 4 ** Math.floor(Math.log(1 / zoomedShare.value) / Math.log(4)),
);

function liveFlame(uuid: string, wanted: string | null): Flame {
	const live = liveRun(uuid);
	const event = wanted ?? live.shownEvent;
	const tree = live.tree(event);
	return { event, unit: null, samples: 0, names: live.names, ...tree };
}

/** The flame graph of the live run, as it grows. */
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

/** While searching: all nodes, as light ones add up in the share of matches. Otherwise none. */
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

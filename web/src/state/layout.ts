/* Layout of the workbench in this browser: which panes are folded, how high the timeline is. */
import { effect, signal, type Signal } from '@preact/signals';
import { keep, recallJson } from './storage';

export type Width = 'wide' | 'middle' | 'phone';
export type Side = 'left' | 'right';
export type Tab = 'new' | 'result' | 'runs';

const phone = matchMedia('(max-width: 699px)');
const middle = matchMedia('(max-width: 1239px)');

function measure(): Width {
	return phone.matches ? 'phone' : middle.matches ? 'middle' : 'wide';
}

export const width = signal<Width>(measure());
for (const query of [phone, middle])
	query.addEventListener('change', () => {
		width.value = measure();
		drawer.value = null;
	});

function kept<T>(name: string, standard: T): Signal<T> {
	const found = recallJson(name);
	// Something else may have written the stored value: use the standard then.
	const usable = found !== null && typeof found === typeof standard;
	const s = signal<T>(usable ? (found as T) : standard);
	effect(() => keep(name, JSON.stringify(s.value)));
	return s;
}

/** Side panes that are folded on wide screens. */
export const folded = kept<Record<Side, boolean>>('folded', { left: false, right: false });
/** The pane that lies over the result on middle screens. */
export const drawer = signal<Side | null>(null);
/** The tab that a phone shows. */
export const tab = signal<Tab>('result');
/** The timeline's part of the height, in percent. */
export const SPLIT_STANDARD = 54;
export const split = kept<number>('split', SPLIT_STANDARD);

export function toggleSide(side: Side): void {
	if (width.value === 'phone') tab.value = side === 'left' ? 'new' : 'runs';
	else if (width.value === 'middle') drawer.value = drawer.value === side ? null : side;
	else folded.value = { ...folded.value, [side]: !folded.value[side] };
}

/** Makes a pane visible, whatever the width. */
export function showSide(side: Side): void {
	if (width.value === 'wide') folded.value = { ...folded.value, [side]: false };
	else if (width.value === 'middle') drawer.value = side;
	else tab.value = side === 'left' ? 'new' : 'runs';
}

/** Shows the form of a new run and puts the cursor into it. */
export function beginRun(): void {
	showSide('left');
	requestAnimationFrame(() =>
		document.querySelector<HTMLElement>('.pane.left :is(textarea, input[type=text])')?.focus(),
	);
}

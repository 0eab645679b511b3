/* The address bar as a signal. Call go() to change the screen. */
import { signal } from '@preact/signals';
import { formatAddress, HOME, parseAddress, type Address } from '../logic/address';

export const address = signal<Address>(parseAddress(location.search));

/** Fields that belong to one run: opening another run clears them. */
const OF_RUN: Partial<Address> = {
	window: null,
	second: null,
	zoom: null,
	event: null,
	threads: null,
	pids: null,
	cpus: null,
	frames: null,
	function: null,
	module: null,
	focus: null,
	counter: null,
	table: null,
	where: null,
	by: null,
	value: null,
	columns: null,
	annotate: null,
};

/** The address that go(change) would lead to. */
function changed(change: Partial<Address>): Address {
	const now = address.value;
	const other = 'run' in change && change.run !== now.run ? OF_RUN : {};
	return { ...now, ...other, ...change };
}

/** The href of go(change), so that middle click and "copy link" work. */
export function link(change: Partial<Address>): string {
	return '/' + formatAddress(changed(change));
}

/** @replace adds no step to the history: for changes while the user drags or types. */
export function go(change: Partial<Address>, replace = false): void {
	const next = changed(change);
	const text = '/' + formatAddress(next);
	if (text !== location.pathname + location.search)
		history[replace ? 'replaceState' : 'pushState'](null, '', text);
	address.value = next;
}

export function goHome(): void {
	go({ ...HOME, a: address.value.a, b: address.value.b });
}

addEventListener('popstate', () => {
	address.value = parseAddress(location.search);
});

/** Handler for links made by link(): a plain click stays in the page. */
export function follow(change: Partial<Address>) {
	return (e: MouseEvent) => {
		if (e.button || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
		e.preventDefault();
		go(change);
	};
}

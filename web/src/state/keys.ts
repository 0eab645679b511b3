/* Keyboard shortcuts: one list, used to handle keys and to fill the sheet of `?`.
 *
 * A view calls useShortcut({keys: 'f', what: 'Search', where: 'Flame graph', run}) while it is on
 * the screen. Without `run` the entry only appears in the sheet: for keys that an element handles
 * itself while it has the focus. If two entries have the same keys, the newest wins. Plain keys do
 * nothing while the user types or a dialog is open. */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { pressed } from '../logic/keys';
import { dialog, typeAhead } from './dialogs';

interface Shortcut {
	/** See logic/keys.ts; blanks separate alternatives. */
	keys: string;
	what: string;
	/** Heading in the sheet: "Everywhere", "Timeline", "Flame graph" … */
	where: string;
	run?: () => void;
}

export const shortcuts = signal<Shortcut[]>([]);

export const onMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** @wanted: null registers nothing, for example because the user may not do it. */
export function useShortcut(wanted: Shortcut | null): void {
	const latest = useRef(wanted);
	latest.current = wanted;
	const { keys, what, where } = wanted ?? {};
	const acts = Boolean(wanted?.run);
	useEffect(() => {
		if (!keys || !what || !where) return;
		const entry = { keys, what, where, run: acts ? () => latest.current?.run?.() : undefined };
		shortcuts.value = [...shortcuts.peek(), entry];
		return () => {
			shortcuts.value = shortcuts.peek().filter((s) => s !== entry);
		};
	}, [keys, what, where, acts]);
}

function types(target: EventTarget | null): boolean {
	if (!(target instanceof HTMLElement)) return false;
	if (target.isContentEditable || target.matches('textarea, select')) return true;
	return target.matches('input:not([type=checkbox], [type=radio], [type=range], [type=button])');
}

window.addEventListener('keydown', (e) => {
	if (e.defaultPrevented || e.isComposing) return;
	const plainKey = !e.ctrlKey && !e.metaKey;
	const inDialog = document.querySelector('dialog[open]') !== null;
	if (plainKey && dialog.peek() && !inDialog) {
		e.preventDefault();
		typeAhead(e.key);
		return;
	}
	if (plainKey && (types(e.target) || inDialog)) return;
	const found = shortcuts
		.peek()
		.findLast((s) => s.run && s.keys.split(' ').some((keys) => pressed(keys, e)));
	if (!found) return;
	e.preventDefault();
	found.run!();
});

/** Arrows, Home and End move between the buttons of a menu. Returns whether @e was such a key. */
export function menuKey(e: KeyboardEvent): boolean {
	const items = [...(e.currentTarget as HTMLElement).querySelectorAll('button')];
	const at = items.indexOf(document.activeElement as HTMLButtonElement);
	const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[e.key];
	if (next === undefined) return false;
	items.at(next % items.length)!.focus();
	e.preventDefault();
	e.stopPropagation();
	return true;
}

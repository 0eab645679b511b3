/* Names of keys in shortcuts: "f", "?", "Mod+k", "Shift+ArrowLeft". Mod is Ctrl, or ⌘ on a Mac. */

export interface KeyPress {
	key: string;
	ctrlKey: boolean;
	metaKey: boolean;
	altKey: boolean;
	shiftKey: boolean;
}

interface Combination {
	mod: boolean;
	alt: boolean;
	shift: boolean;
	key: string;
}

function parse(keys: string): Combination {
	const parts = keys.split('+');
	// "Mod++" and "+" mean the key plus itself.
	const key = keys.endsWith('+') ? '+' : parts[parts.length - 1]!;
	return {
		mod: parts.includes('Mod'),
		alt: parts.includes('Alt'),
		shift: parts.includes('Shift'),
		key,
	};
}

export function pressed(keys: string, e: KeyPress): boolean {
	const wanted = parse(keys);
	if (wanted.mod !== (e.ctrlKey || e.metaKey) || wanted.alt !== e.altKey) return false;
	// Typing "?" or "+" may need Shift: for such signs only the character counts.
	const sign = wanted.key.length === 1 && wanted.key.toLowerCase() === wanted.key.toUpperCase();
	if (!sign && wanted.shift !== e.shiftKey) return false;
	return wanted.key.length === 1
		? e.key.toLowerCase() === wanted.key.toLowerCase()
		: e.key === wanted.key;
}

const SIGNS: Record<string, string> = {
	ArrowLeft: '←',
	ArrowRight: '→',
	ArrowUp: '↑',
	ArrowDown: '↓',
	Escape: 'Esc',
	' ': 'Space',
};

/** The keys as they are shown, one text each: ["Ctrl", "K"]. */
export function keyCaps(keys: string, mac: boolean): string[] {
	const { mod, alt, shift, key } = parse(keys);
	const caps: string[] = [];
	if (mod) caps.push(mac ? '⌘' : 'Ctrl');
	if (alt) caps.push(mac ? '⌥' : 'Alt');
	if (shift) caps.push(mac ? '⇧' : 'Shift');
	caps.push(SIGNS[key] ?? (key.length === 1 ? key.toUpperCase() : key));
	return caps;
}

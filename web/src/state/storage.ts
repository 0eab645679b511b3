/* What this browser keeps. It may be forbidden, full or written by somebody else: the page works without. */

export type Area = 'localStorage' | 'sessionStorage';

export function recall(name: string, area: Area = 'localStorage'): string | null {
	try {
		return window[area].getItem(name);
	} catch {
		return null;
	}
}

/** null: it is removed. */
export function keep(name: string, text: string | null, area: Area = 'localStorage'): void {
	try {
		if (text === null) window[area].removeItem(name);
		else window[area].setItem(name, text);
	} catch {
		// The next visit begins with what is usual.
	}
}

/** What was kept as JSON; null: nothing that can be read. */
export function recallJson(name: string, area?: Area): unknown {
	try {
		return JSON.parse(recall(name, area) ?? 'null');
	} catch {
		return null;
	}
}

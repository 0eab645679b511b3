/* Browser storage. It may be forbidden, full or changed by others: the page works without it. */

export type Area = 'localStorage' | 'sessionStorage';

export function recall(name: string, area: Area = 'localStorage'): string | null {
	try {
		return window[area].getItem(name);
	} catch {
		return null;
	}
}

/** @text: null removes the entry. */
export function keep(name: string, text: string | null, area: Area = 'localStorage'): void {
	try {
		if (text === null) window[area].removeItem(name);
		else window[area].setItem(name, text);
	} catch {
		// The next visit begins with the defaults.
	}
}

/** Returns the value stored as JSON, or null if there is none that can be read. */
export function recallJson(name: string, area?: Area): unknown {
	try {
		return JSON.parse(recall(name, area) ?? 'null');
	} catch {
		return null;
	}
}

/* Desktop notifications: a long run has ended while the page was hidden. Permission is requested
 * only when the user switches them on. */
import { signal } from '@preact/signals';
import type { Run } from '../api/types';
import { outcomeOf, runName, STATE_WORDS } from '../logic/run/run_words';
import { formatDuration } from '../logic/units';
import { go } from './address';
import { keep, recall } from './storage';
import { toast } from './toasts';

const KEY = 'notify';
const LONG_S = 10;

function allowed(): boolean {
	return 'Notification' in window && Notification.permission === 'granted';
}

export const notifying = signal(allowed() && recall(KEY) === '1');

export async function switchNotifying(yes: boolean): Promise<void> {
	if (yes && !allowed() && (await Notification.requestPermission()) !== 'granted') {
		toast('The browser does not allow notifications for this page. Its settings can change that.', {
			kind: 'error',
		});
		yes = false;
	}
	keep(KEY, yes ? '1' : '0');
	// Toggling redraws the checkbox even if its value stays the same.
	notifying.value = !yes;
	notifying.value = yes;
}

export function notifyEnd(r: Run): void {
	if (!notifying.value || !document.hidden || (r.duration_s ?? 0) < LONG_S) return;
	// All tabs use the same tag, so that the system shows one notification.
	const n = new Notification(`${runName(r)}: ${STATE_WORDS[outcomeOf(r)]}`, {
		body: `after ${formatDuration((r.duration_s ?? 0) * 1e9)}`,
		tag: r.uuid,
	});
	n.onclick = () => {
		window.focus();
		go({ session: r.session, run: r.uuid });
		n.close();
	};
}

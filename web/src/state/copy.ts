/* Copies text to the clipboard. */
import { toast } from './toasts';

/** Browsers deny navigator.clipboard to pages loaded over plain HTTP from another host. */
function copyTheOldWay(text: string): boolean {
	const area = document.createElement('textarea');
	area.value = text;
	area.setAttribute('aria-hidden', 'true');
	area.style.position = 'fixed';
	area.style.opacity = '0';
	const before = document.activeElement as HTMLElement | null;
	document.body.append(area);
	area.select();
	const done = document.execCommand('copy');
	area.remove();
	before?.focus({ preventScroll: true });
	return done;
}

/** @said is the message on success, such as "The link is copied." */
export async function copyText(text: string, said: string): Promise<void> {
	let done: boolean;
	try {
		await navigator.clipboard.writeText(text);
		done = true;
	} catch {
		done = copyTheOldWay(text);
	}
	if (done) toast(said);
	else toast('The browser does not allow this page to copy.', { kind: 'error' });
}

/* Links to what is on the screen, and the screen as a whole. */
import { toast } from './toasts';
import { address, go } from './address';

/** Where the clipboard may not be used (plain HTTP from another machine) the text is selected by hand. */
function copyByHand(text: string): boolean {
	const field = document.createElement('textarea');
	field.value = text;
	document.body.append(field);
	field.select();
	const done = document.execCommand('copy');
	field.remove();
	return done;
}

export async function copyText(text: string, what: string): Promise<void> {
	let done = true;
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		done = copyByHand(text);
	}
	if (done) toast(`${what} was copied`);
	else toast(`${what} could not be copied: the browser does not allow it.`, { kind: 'error' });
}

export function copyLink(): void {
	void copyText(location.href, 'The link to this view');
}

/** Only the result, on all of the screen where the browser allows it. */
export function toggleFull(): void {
	const full = !address.value.full;
	go({ full });
	if (full) document.documentElement.requestFullscreen?.().catch(() => {});
	else if (document.fullscreenElement) void document.exitFullscreen();
}

document.addEventListener('fullscreenchange', () => {
	if (!document.fullscreenElement && address.value.full) go({ full: false });
});

/* Links to what is on the screen, and the screen as a whole. */
import { address, go } from './address';
import { copyText } from './copy';

export function copyLink(): void {
	void copyText(location.href, 'The link to this view was copied.');
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

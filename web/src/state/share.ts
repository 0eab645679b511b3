/* The link to the current view, and full screen. */
import { address, go } from './address';
import { copyText } from './copy';

export function copyLink(): void {
	void copyText(location.href, 'The link to this view was copied.');
}

/** Shows only the result, in full screen if the browser allows it. */
export function toggleFull(): void {
	const full = !address.value.full;
	go({ full });
	if (full) document.documentElement.requestFullscreen?.().catch(() => {});
	else if (document.fullscreenElement) void document.exitFullscreen();
}

document.addEventListener('fullscreenchange', () => {
	if (!document.fullscreenElement && address.value.full) go({ full: false });
});

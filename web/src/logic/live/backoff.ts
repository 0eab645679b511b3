/** How long to wait before trying again, ms: 1 s, 2 s, 4 s … up to 15 s. */
export function nextPause(attempts: number): number {
	return Math.min(15000, 1000 * 2 ** Math.min(attempts, 5));
}

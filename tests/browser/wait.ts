/* Waiting for conditions, never for times. */

const EVERY_MS = 25;
const PATIENCE_MS = 120_000;

/** Asks until the answer is true-ish, and gives it; says what it waited for when it takes too long. */
export async function until<T>(
	what: string,
	ask: () => T | Promise<T>,
	ms = PATIENCE_MS,
): Promise<Exclude<T, false | null | undefined | '' | 0>> {
	const end = Date.now() + ms;
	let last: unknown;
	for (;;) {
		const answer = await ask();
		if (answer) return answer as Exclude<T, false | null | undefined | '' | 0>;
		last = answer;
		if (Date.now() > end)
			throw new Error(`waited ${ms} ms in vain until ${what} (${String(last)})`);
		await new Promise((done) => setTimeout(done, EVERY_MS));
	}
}

/* JSON with integers of 64 bits. A number of JavaScript has 53 bits: integers that do not fit become texts with
 * all their digits, so that 18446744073709551615 is neither shown as …552000 nor equal to its neighbours. */

/** A string or a number of JSON. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

function keepDigits(token: string): string {
	const loses = /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token));
	return loses ? `"${token}"` : token;
}

export function parseExact(text: string): unknown {
	return JSON.parse(/\d{16}/.test(text) ? text.replace(TOKENS, keepDigits) : text);
}

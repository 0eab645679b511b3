/* Answers with format=columns: a line of JSON in which large arrays are {type, length, offset},
 * then, at the next multiple of 8 bytes, the arrays themselves as little-endian numbers. */
import type { Column, ColumnPlace } from './types';

function isPlace(value: unknown): value is ColumnPlace {
	const v = value as ColumnPlace;
	return (
		typeof v === 'object' &&
		v !== null &&
		typeof v.type === 'string' &&
		typeof v.length === 'number' &&
		typeof v.offset === 'number'
	);
}

/** 64-bit integers become plain numbers: times and counts fit into 53 bits. */
function column(place: ColumnPlace, bytes: ArrayBuffer, base: number): Column {
	const at = base + place.offset;
	switch (place.type) {
		case 'u32':
			return new Uint32Array(bytes, at, place.length);
		case 'f64':
			return new Float64Array(bytes, at, place.length);
		case 'u64':
			return Float64Array.from(new BigUint64Array(bytes, at, place.length), Number);
		case 'i64':
			return Float64Array.from(new BigInt64Array(bytes, at, place.length), Number);
	}
}

function fill(value: unknown, bytes: ArrayBuffer, base: number): unknown {
	if (Array.isArray(value)) return value.map((item) => fill(item, bytes, base));
	if (isPlace(value)) return column(value, bytes, base);
	if (typeof value !== 'object' || value === null) return value;
	const out: Record<string, unknown> = {};
	for (const [name, item] of Object.entries(value)) out[name] = fill(item, bytes, base);
	return out;
}

export function decodeColumns(bytes: ArrayBuffer): unknown {
	const all = new Uint8Array(bytes);
	const end = all.indexOf(10);
	if (end < 0) throw new Error('The server sent columns without a head.');
	const head: unknown = JSON.parse(new TextDecoder().decode(all.subarray(0, end)));
	return fill(head, bytes, Math.ceil((end + 1) / 8) * 8);
}

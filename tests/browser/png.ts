/* Chromium writes PNG files quickly, not small. Flat colours and text take a fifth less room when no pixel
 * is predicted from its neighbours. The pixels stay what they are. */
import { deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE_BYTES = 8;
const RGB = 2;

function paeth(left: number, up: number, corner: number): number {
	const guess = left + up - corner;
	const [a, b, c] = [left, up, corner].map((value) => Math.abs(guess - value)) as number[];
	return a! <= b! && a! <= c! ? left : b! <= c! ? up : corner;
}

/** Takes the prediction of one line back, in place; each line begins with how it was predicted. */
function unpredict(line: Buffer, before: Buffer | null, pixel: number): void {
	const kind = line[0]!;
	for (let i = 1; i < line.length; i++) {
		const left = i > pixel ? line[i - pixel]! : 0;
		const up = before ? before[i]! : 0;
		const corner = before && i > pixel ? before[i - pixel]! : 0;
		const guess = [0, left, up, (left + up) >> 1, kind === 4 ? paeth(left, up, corner) : 0][kind]!;
		line[i] = (line[i]! + guess) & 255;
	}
	line[0] = 0;
}

function crc(bytes: Buffer): number {
	let sum = ~0;
	for (const byte of bytes) {
		sum ^= byte;
		for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
	}
	return ~sum >>> 0;
}

function chunk(type: string, data: Buffer): Buffer {
	const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
	const frame = Buffer.alloc(8);
	frame.writeUInt32BE(data.length, 0);
	frame.writeUInt32BE(crc(body), 4);
	return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

export function smaller(png: Buffer): Buffer {
	const parts = new Map<string, Buffer[]>();
	for (let at = SIGNATURE_BYTES; at < png.length;) {
		const end = at + 8 + png.readUInt32BE(at);
		const type = png.toString('latin1', at + 4, at + 8);
		parts.set(type, [...(parts.get(type) ?? []), png.subarray(at + 8, end)]);
		at = end + 4;
	}
	const head = parts.get('IHDR')![0]!;
	const pixel = head[9] === RGB ? 3 : 4;
	const length = 1 + head.readUInt32BE(0) * pixel;
	const lines = inflateSync(Buffer.concat(parts.get('IDAT')!));
	for (let at = 0; at < lines.length; at += length) {
		const before = at ? lines.subarray(at - length, at) : null;
		unpredict(lines.subarray(at, at + length), before, pixel);
	}
	return Buffer.concat([
		png.subarray(0, SIGNATURE_BYTES),
		chunk('IHDR', head),
		chunk('IDAT', deflateSync(lines, { level: 9, memLevel: 9 })),
		chunk('IEND', Buffer.alloc(0)),
	]);
}

/* What `perf stat record -I` writes on a machine with few counters: a perf.data without samples, in which
 * some events had to share a counter, or never got one. There is no such machine to test on. */

const ATTR_BYTES = 136;
const HEAD_BYTES = 104;
const [STAT, STAT_ROUND] = [76, 77];
/** As perf counts unless it is told otherwise. */
const EXCLUDE_GUEST = 1 << 20;
const NS = 1e9;

export interface Counted {
	/** Of PERF_TYPE_HARDWARE: 0 are cycles, 1 instructions. */
	config: number;
	/** Part of the second that begins at @s in which it had a counter, 0…1. */
	running: (s: number) => number;
	/** How often a second it happens. */
	rate: number;
}

/** One after the other: numbers of 16, 32 and 64 bits. */
class Bytes {
	private readonly parts: Buffer[] = [];

	u16(value: number): this {
		const part = Buffer.alloc(2);
		part.writeUInt16LE(value);
		this.parts.push(part);
		return this;
	}

	u32(...values: number[]): this {
		for (const value of values) {
			const part = Buffer.alloc(4);
			part.writeUInt32LE(value);
			this.parts.push(part);
		}
		return this;
	}

	u64(...values: number[]): this {
		for (const value of values) {
			const part = Buffer.alloc(8);
			part.writeBigUInt64LE(BigInt(Math.round(value)));
			this.parts.push(part);
		}
		return this;
	}

	add(bytes: Buffer): this {
		this.parts.push(bytes);
		return this;
	}

	get all(): Buffer {
		return Buffer.concat(this.parts);
	}
}

/** An event that is counted, not sampled: no period. Its only id stands in the file at @idAt. */
function attr(config: number, idAt: number): Buffer {
	const bytes = Buffer.alloc(ATTR_BYTES);
	bytes.writeUInt32LE(ATTR_BYTES, 4);
	bytes.writeBigUInt64LE(BigInt(config), 8);
	bytes.writeUInt32LE(EXCLUDE_GUEST, 40);
	return new Bytes().add(bytes).u64(idAt, 8).all;
}

/** Every reading says what was counted since the beginning, and for how long of that. */
function readings(events: Counted[], seconds: number, interval: number): Buffer {
	const out = new Bytes();
	const sums = events.map(() => ({ value: 0, running: 0 }));
	for (let s = 0; s < seconds; s += interval) {
		events.forEach((event, i) => {
			const sum = sums[i]!;
			const ran = event.running(s) * interval;
			sum.value += event.rate * ran;
			sum.running += ran * NS;
			out.u32(STAT).u16(0).u16(48);
			out.u64(i + 1).u32(0xffffffff, 0);
			out.u64(sum.value, (s + interval) * NS, sum.running);
		});
		out
			.u32(STAT_ROUND)
			.u16(0)
			.u16(24)
			.u64(0, (s + interval) * NS);
	}
	return out.all;
}

export function statRecording(events: Counted[], seconds: number, interval: number): Buffer {
	const ids = new Bytes().u64(...events.map((_, i) => i + 1)).all;
	const attrs = Buffer.concat(events.map(({ config }, i) => attr(config, HEAD_BYTES + 8 * i)));
	const data = readings(events, seconds, interval);
	const attrsAt = HEAD_BYTES + ids.length;
	const dataAt = attrsAt + attrs.length;
	const head = new Bytes()
		.add(Buffer.from('PERFILE2'))
		.u64(HEAD_BYTES, ATTR_BYTES + 16)
		.u64(attrsAt, attrs.length, dataAt, data.length)
		// Neither event types nor features.
		.u64(0, 0, 0, 0, 0, 0);
	return Buffer.concat([head.all, ids, attrs, data]);
}

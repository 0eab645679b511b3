/* Values of one streaming counter in bounded memory: the newest intervals as received, and all of
 * the run in levels of ever wider buckets. A line is drawn from the level that suits its
 * resolution, by the rule of the server's timeline: the value of an interval is spread evenly over
 * the pixels that it touches, and where nothing was counted there is no value, not zero. */

/** Rates a second; NaN where nothing was counted. */
export interface Line {
	/** Where each pixel begins. */
	t: Float64Array;
	min: Float64Array;
	max: Float64Array;
	mean: Float64Array;
}

/** The buckets of each level are this many times wider than those of the level before. */
const LEVEL_STEP = 4;
const FIRST_WIDTH_NS = 20e6;
/** The widest level has room for 31 days, with 2048 buckets. */
const LEVELS_MAX = 9;
/** At least: a bucket on a border is spread over both pixels, which must not be visible. */
const BUCKETS_A_PIXEL = 4;
const FIELDS = 4;
const [MIN, MAX, SUM, DURATION] = [0, 1, 2, 3];
const NS_A_SECOND = 1e9;

/** A ring of intervals, which grows before it wraps: end, length, value. */
interface Intervals {
	rows: Float64Array;
	first: number;
	length: number;
}

/** Buckets number `first` … `end - 1` of a time axis cut into pieces of `width`. */
interface Level {
	width: number;
	first: number;
	end: number;
	cells: Float64Array;
}

/** The complete state, as it is sent to another tab. */
export interface SavedCounter {
	newest: Intervals;
	levels: Level[];
	wholeFrom: number;
}

class Pixels {
	readonly line: Line;
	private readonly sum: Float64Array;
	private readonly duration: Float64Array;
	private readonly width: number;

	constructor(
		private readonly from: number,
		to: number,
		private readonly count: number,
	) {
		this.width = (to - from) / count;
		const t = new Float64Array(count);
		for (let i = 0; i < count; i++) t[i] = from + Math.round(i * this.width);
		this.line = {
			t,
			min: new Float64Array(count).fill(Infinity),
			max: new Float64Array(count).fill(-Infinity),
			mean: new Float64Array(count),
		};
		this.sum = new Float64Array(count);
		this.duration = new Float64Array(count);
	}

	/** @counted: the part of @begin … @end in which the counter was counting, in ns. */
	add(begin: number, end: number, sum: number, min: number, max: number, counted: number): void {
		const length = end - begin;
		const a = Math.max(0, begin - this.from);
		const b = Math.min(this.count * this.width, end - this.from);
		if (!(a < b)) return;
		const first = Math.min(this.count - 1, Math.floor(a / this.width));
		const last = Math.min(this.count - 1, Math.floor(b / this.width));
		for (let i = first; i <= last; i++) {
			const left = Math.max(a, i * this.width);
			const right = i === this.count - 1 ? b : Math.min(b, (i + 1) * this.width);
			if (left >= right) continue;
			const part = (right - left) / length;
			this.sum[i]! += sum * part;
			this.duration[i]! += counted * part;
			if (min < this.line.min[i]!) this.line.min[i] = min;
			if (max > this.line.max[i]!) this.line.max[i] = max;
		}
	}

	finish(): Line {
		const { min, max, mean } = this.line;
		for (let i = 0; i < this.count; i++) {
			if (this.duration[i]! > 0) mean[i] = (this.sum[i]! / this.duration[i]!) * NS_A_SECOND;
			else min[i] = max[i] = mean[i] = NaN;
		}
		return this.line;
	}
}

export class CounterSeries {
	private newest: Intervals = { rows: new Float64Array(3 * 64), first: 0, length: 0 };
	private levels: Level[] = [];
	/** `newest` is complete from this time on. */
	private wholeFrom = Infinity;

	/** Limits of the number of intervals, and of buckets in each level. */
	constructor(
		private readonly intervalsMax = 8192,
		private readonly bucketsMax = 2048,
	) {}

	/** The time of the newest value, or 0. */
	get endNs(): number {
		const { rows, first, length } = this.newest;
		return length ? rows[3 * ((first + length - 1) % (rows.length / 3))]! : 0;
	}

	/** Start of the time that `newest` covers; 0 if it is empty. */
	get beginNs(): number {
		return this.newest.length ? this.wholeFrom : 0;
	}

	/** @t: where the interval ends. */
	add(t: number, duration: number, value: number): void {
		if (!(duration > 0)) return;
		this.addInterval(t, duration, value);
		const rate = (value / duration) * NS_A_SECOND;
		this.addToLevels(t - duration, t, value, rate, rate, duration);
	}

	/** Adds a pixel of the stored timeline, for the time before the first value. */
	addPast(begin: number, pixelEnd: number, min: number, max: number, mean: number): void {
		const end = Math.min(pixelEnd, this.wholeFrom);
		if (!(begin < end) || Number.isNaN(mean)) return;
		const sum = (mean * (end - begin)) / NS_A_SECOND;
		this.addToLevels(begin, end, sum, min, max, end - begin);
	}

	private addInterval(t: number, duration: number, value: number): void {
		const ring = this.newest;
		let room = ring.rows.length / 3;
		if (ring.length === room && room < this.intervalsMax) {
			// The ring has not wrapped yet: first is 0.
			room = Math.min(this.intervalsMax, 2 * room);
			const rows = new Float64Array(3 * room);
			rows.set(ring.rows);
			ring.rows = rows;
		}
		if (ring.length === room) {
			this.wholeFrom = ring.rows[3 * ring.first]!;
			ring.first = (ring.first + 1) % room;
			ring.length--;
		} else if (!ring.length) this.wholeFrom = t - duration;
		const at = 3 * ((ring.first + ring.length++) % room);
		ring.rows[at] = t;
		ring.rows[at + 1] = duration;
		ring.rows[at + 2] = value;
	}

	/** Adds to every level; a full level forgets its oldest buckets. */
	private addToLevels(
		begin: number,
		end: number,
		sum: number,
		min: number,
		max: number,
		counted: number,
	): void {
		const from = Math.max(0, begin);
		this.needLevels(end);
		for (const level of this.levels) {
			const first = Math.floor(from / level.width);
			const last = Math.max(first, Math.ceil(end / level.width) - 1);
			for (let i = Math.max(first, last - this.bucketsMax + 1); i <= last; i++) {
				const left = Math.max(begin, i === first ? begin : i * level.width);
				const right = Math.min(end, (i + 1) * level.width);
				const part = (right - left) / (end - begin);
				if (part > 0) this.addToBucket(level, i, sum * part, min, max, counted * part);
			}
		}
	}

	/** Adds a wider level, filled from the widest, before that would have to forget. */
	private needLevels(end: number): void {
		for (;;) {
			const widest = this.levels.at(-1);
			if (widest && end <= widest.width * this.bucketsMax) return;
			if (this.levels.length === LEVELS_MAX) return;
			const width = widest ? widest.width * LEVEL_STEP : FIRST_WIDTH_NS;
			const level = { width, first: 0, end: 0, cells: new Float64Array(FIELDS * 64) };
			if (widest)
				for (let i = widest.first; i < widest.end; i++) {
					const at = FIELDS * (i % (widest.cells.length / FIELDS));
					const [min, max, sum, duration] = widest.cells.subarray(at, at + FIELDS);
					if (duration)
						this.addToBucket(level, Math.floor(i / LEVEL_STEP), sum!, min!, max!, duration);
				}
			this.levels.push(level);
		}
	}

	private addToBucket(
		level: Level,
		bucket: number,
		sum: number,
		min: number,
		max: number,
		duration: number,
	): void {
		this.makeRoom(level, bucket);
		if (bucket < level.first) return;
		const at = FIELDS * (bucket % (level.cells.length / FIELDS));
		const cells = level.cells;
		const known = cells[at + DURATION]! > 0;
		cells[at + MIN] = known ? Math.min(cells[at + MIN]!, min) : min;
		cells[at + MAX] = known ? Math.max(cells[at + MAX]!, max) : max;
		cells[at + SUM]! += sum;
		cells[at + DURATION]! += duration;
	}

	/** Appends empty buckets up to @bucket; forgets the oldest ones if there is no room. */
	private makeRoom(level: Level, bucket: number): void {
		let room = level.cells.length / FIELDS;
		while (bucket - level.first >= room && room < this.bucketsMax) {
			const next = Math.min(this.bucketsMax, 2 * room);
			const cells = new Float64Array(FIELDS * next);
			for (let i = level.first; i < level.end; i++) {
				const at = FIELDS * (i % room);
				cells.set(level.cells.subarray(at, at + FIELDS), FIELDS * (i % next));
			}
			level.cells = cells;
			room = next;
		}
		if (bucket < level.end) return;
		const empty = Math.max(level.end, bucket - room + 1);
		for (let i = empty; i <= bucket; i++) {
			const at = FIELDS * (i % room);
			level.cells.fill(0, at, at + FIELDS);
		}
		level.end = bucket + 1;
		level.first = Math.max(level.first, level.end - room);
	}

	/** The line of @from … @to in at most @points pixels. */
	line(from: number, to: number, points: number): Line {
		const pixels = new Pixels(from, Math.max(to, from + 1), Math.max(1, Math.floor(points)));
		const pixel = (to - from) / points;
		const level = this.levelFor(from, pixel);
		if (level) this.drawLevel(level, from, to, pixels);
		else this.drawIntervals(from, to, pixels);
		return pixels.finish();
	}

	/** The widest level with BUCKETS_A_PIXEL buckets in each pixel; null: use the intervals. */
	private levelFor(from: number, pixel: number): Level | null {
		const exact = from >= this.wholeFrom;
		let best: Level | null = null;
		for (const level of this.levels) {
			const reaches = level.first * level.width <= Math.max(0, from);
			if (reaches && (BUCKETS_A_PIXEL * level.width <= pixel || (!best && !exact))) best = level;
		}
		return best ?? (exact ? null : (this.levels.at(-1) ?? null));
	}

	private drawLevel(level: Level, from: number, to: number, pixels: Pixels): void {
		const room = level.cells.length / FIELDS;
		const first = Math.max(level.first, Math.floor(from / level.width));
		const end = Math.min(level.end, Math.ceil(to / level.width));
		for (let i = first; i < end; i++) {
			const at = FIELDS * (i % room);
			const duration = level.cells[at + DURATION]!;
			if (!duration) continue;
			const [min, max, sum] = [level.cells[at]!, level.cells[at + MAX]!, level.cells[at + SUM]!];
			pixels.add(i * level.width, (i + 1) * level.width, sum, min, max, duration);
		}
	}

	private drawIntervals(from: number, to: number, pixels: Pixels): void {
		const { rows, first, length } = this.newest;
		const room = rows.length / 3;
		// Mostly the newest are drawn: go backwards until they lie before the window.
		for (let i = length - 1; i >= 0; i--) {
			const at = 3 * ((first + i) % room);
			const [end, duration, value] = [rows[at]!, rows[at + 1]!, rows[at + 2]!];
			if (end <= from) break;
			if (end - duration >= to) continue;
			const rate = (value / duration) * NS_A_SECOND;
			pixels.add(end - duration, end, value, rate, rate, duration);
		}
	}

	save(): SavedCounter {
		return { newest: this.newest, levels: this.levels, wholeFrom: this.wholeFrom };
	}

	/** Takes over @saved: the result of save(), copied by a message. */
	restore(saved: SavedCounter): this {
		this.newest = saved.newest;
		this.levels = saved.levels;
		this.wholeFrom = saved.wholeFrom;
		return this;
	}
}

/* The call tree of a run while it grows: nodes are appended and never change, weights only grow.
 * Totals are kept up to date by walking from each node that gained something to the root. */
import type { FlameTree, FunctionName } from '../../api/types';

const PARENT = 0;
const NAME = 1;
const INLINED = 2;
const NODE_FIELDS = 3;
const GAIN_FIELDS = 4;

interface Weights {
	self: Float64Array;
	total: Float64Array;
}

export interface SavedTree {
	names: FunctionName[];
	events: string[];
	count: number;
	parent: Uint32Array;
	name: Uint32Array;
	inlined: Uint32Array;
	weights: Weights[];
	samples: number[];
}

function grown<T extends Uint32Array | Float64Array>(old: T, room: number): T {
	const bigger = new (old.constructor as new (length: number) => T)(room);
	bigger.set(old);
	return bigger;
}

function noWeights(room: number): Weights {
	return { self: new Float64Array(room), total: new Float64Array(room) };
}

export class LiveTree {
	readonly names: FunctionName[] = [['all', '', 'unknown']];
	readonly events: string[] = [];
	/** Samples so far, by event. */
	readonly samples: number[] = [];
	/** The root is there from the beginning. */
	private count = 1;
	private parent = new Uint32Array(256);
	private name = new Uint32Array(256);
	private inlined = new Uint32Array(256);
	private weights: Weights[] = [];

	addNames(names: FunctionName[]): void {
		for (const name of names) this.names.push(name);
	}

	addEvents(events: string[]): void {
		for (const event of events) {
			this.events.push(event);
			this.samples.push(0);
			this.weights.push(noWeights(this.parent.length));
		}
	}

	/** @nodes: parent, name, inlined of each. Parents come first; unknown ones are the root. */
	addNodes(nodes: ArrayLike<number>): void {
		const more = nodes.length / NODE_FIELDS;
		this.makeRoom(this.count + more);
		for (let i = 0; i < more; i++) {
			const parent = nodes[NODE_FIELDS * i + PARENT]!;
			this.parent[this.count] = parent < this.count ? parent : 0;
			this.name[this.count] = nodes[NODE_FIELDS * i + NAME]!;
			this.inlined[this.count] = nodes[NODE_FIELDS * i + INLINED]!;
			this.count++;
		}
	}

	/** @gain: event, node, samples, weight of each. */
	addGain(gain: ArrayLike<number>): void {
		for (let i = 0; i < gain.length; i += GAIN_FIELDS) {
			const event = gain[i]!;
			const node = gain[i + 1]!;
			const weights = this.weights[event];
			if (!weights || node >= this.count) continue;
			const weight = gain[i + 3]!;
			this.samples[event]! += gain[i + 2]!;
			weights.self[node]! += weight;
			for (let at = node; at; at = this.parent[at]!) weights.total[at]! += weight;
			weights.total[0]! += weight;
		}
	}

	private makeRoom(count: number): void {
		let room = this.parent.length;
		if (count <= room) return;
		while (room < count) room *= 2;
		this.parent = grown(this.parent, room);
		this.name = grown(this.name, room);
		this.inlined = grown(this.inlined, room);
		this.weights = this.weights.map((w) => ({
			self: grown(w.self, room),
			total: grown(w.total, room),
		}));
	}

	/** The arrays keep growing: a caller that keeps the result sees newer weights in it. */
	tree(event: string | null): FlameTree {
		const weights =
			this.weights[event === null ? -1 : this.events.indexOf(event)] ?? noWeights(this.count);
		const part = <T extends Uint32Array | Float64Array>(all: T): T =>
			all.subarray(0, this.count) as T;
		return {
			total: weights.total[0]!,
			nodes: {
				parent: part(this.parent),
				name: part(this.name),
				self: part(weights.self),
				total: part(weights.total),
				inlined: part(this.inlined),
			},
			hidden: { nodes: 0, weight: 0 },
		};
	}

	save(): SavedTree {
		const { names, events, count, parent, name, inlined, weights, samples } = this;
		return { names, events, count, parent, name, inlined, weights, samples };
	}

	/** Takes over @saved: the result of save(), copied by a message. */
	restore(saved: SavedTree): this {
		return Object.assign(this, saved);
	}
}

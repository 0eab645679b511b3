import { expect, test } from 'vitest';
import { layOutTree } from '../src/logic/flame/flame_layout';
import { unknownShare } from '../src/logic/flame/flame_unknown';

test('the share of stacks that lead through unknown code, each counted once', () => {
	const graph = layOutTree({
		names: [
			['all', '', 'unknown'],
			['main', 'prog', 'user'],
			['[unknown]', '', 'unknown'],
		],
		// all → main → [unknown] → [unknown]; all → [unknown] → main
		nodes: {
			parent: [0, 0, 1, 2, 0, 4],
			name: [0, 1, 2, 2, 2, 1],
			self: [0, 50, 0, 20, 0, 30],
			total: [100, 70, 20, 20, 30, 30],
			inlined: [0, 0, 0, 0, 0, 0],
		},
		unit: null,
	});
	expect(unknownShare(graph)).toBeCloseTo(0.5);
});

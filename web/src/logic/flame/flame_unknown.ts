/* Stacks with unknown frames: mostly they could not be unwound for lack of frame pointers. */
import type { FlameGraph } from './flame_layout';

/** Share of the samples whose stack has an unknown frame. */
export function unknownShare(graph: FlameGraph): number {
	const lost = new Uint8Array(graph.count);
	let weight = 0;
	for (let node = 1; node < graph.count; node++) {
		const above = lost[graph.parent[node]!]!;
		const unknown = graph.names[graph.name[node]!]![2] === 'unknown';
		lost[node] = above || unknown ? 1 : 0;
		if (unknown && !above) weight += graph.total[node]!;
	}
	return graph.whole ? weight / graph.whole : 0;
}

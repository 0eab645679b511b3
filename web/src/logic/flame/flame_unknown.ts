/* Stacks that lead through code of which nothing is known: mostly they could not be followed, because
 * that code keeps no frame pointers. */
import type { FlameGraph } from './flame_layout';

/** Share of the samples whose stack has such a frame. */
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

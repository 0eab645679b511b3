/* The stack of a single sample, from a flame graph of only that sample. */
import type { Flame } from '../../api/types';

/** Names from the outermost caller to the sampled function; of several stacks, the heaviest. */
export function stackOf(flame: Flame): string[] {
	const { nodes, names } = flame;
	if (!nodes || nodes.parent.length < 2) return [];
	const out: string[] = [];
	let at = 0;
	for (;;) {
		let heaviest = -1;
		for (let i = at + 1; i < nodes.parent.length; i++)
			if (nodes.parent[i] === at && (heaviest < 0 || nodes.total[i]! > nodes.total[heaviest]!))
				heaviest = i;
		if (heaviest < 0) return out;
		out.push(names[nodes.name[heaviest]!]![0]);
		at = heaviest;
	}
}

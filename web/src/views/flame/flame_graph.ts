/* The graph of an answer about weights by call chain. */
import type { Flame } from '../../api/types';
import { layOutTree, type FlameGraph } from '../../logic/flame/flame_layout';
import { layOutTime } from '../../logic/flame/flame_order';
import { weightUnit } from '../../logic/flame/flame_words';

export function flameGraphOf(flame: Flame | null): FlameGraph | null {
	if (flame?.boxes)
		return layOutTime(flame.names, flame.boxes, { from: flame.from_ns!, to: flame.to_ns! });
	if (!flame?.nodes) return null;
	return layOutTree({
		names: flame.names,
		nodes: flame.nodes,
		unit: weightUnit(flame.event, flame.unit),
		whole: flame.total,
		samples: flame.samples || undefined,
	});
}

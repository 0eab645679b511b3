import type { Run } from '../../api/types';
import { sparkPath } from '../../logic/timeline/spark';
import { useSpark } from '../../state/sparks';

const WIDTH = 84;
const HEIGHT = 20;

export function Sparkline(props: { run: Run }) {
	const { ref, values } = useSpark(props.run);
	const path = values ? sparkPath(values, WIDTH, HEIGHT) : '';
	return (
		<div ref={ref} class="spark" aria-hidden="true">
			{path && (
				<svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none">
					<path d={path} />
				</svg>
			)}
		</div>
	);
}

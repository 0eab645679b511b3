/* A rev counter, large: the face of the first screen. */
import './gauge.css';

const TICKS = 11;

function polar(part: number, radius: number): [number, number] {
	const angle = Math.PI * (1.15 - 1.3 * part);
	return [120 + radius * Math.cos(angle), 120 - radius * Math.sin(angle)];
}

function arc(from: number, to: number, radius: number): string {
	const [x1, y1] = polar(from, radius);
	const [x2, y2] = polar(to, radius);
	return `M${x1} ${y1}A${radius} ${radius} 0 ${to - from > 0.77 ? 1 : 0} 1 ${x2} ${y2}`;
}

export function Gauge() {
	return (
		<svg class="gauge" viewBox="0 0 240 176" role="presentation" aria-hidden="true">
			<path class="track" d={arc(0, 1, 100)} />
			<path class="warm" d={arc(0.72, 1, 100)} />
			{Array.from({ length: TICKS }, (_, i) => {
				const [x1, y1] = polar(i / (TICKS - 1), 84);
				const [x2, y2] = polar(i / (TICKS - 1), i % 5 ? 78 : 70);
				return <path key={i} class="tick" d={`M${x1} ${y1}L${x2} ${y2}`} />;
			})}
			<g class="needle">
				<path d="M120 120 L120 38" />
			</g>
			<circle class="hub" cx="120" cy="120" r="9" />
		</svg>
	);
}

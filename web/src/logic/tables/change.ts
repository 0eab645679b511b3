/* Differences in words. They always have a sign, so that none depends on colour alone. */

/** 0.0213 → "+2.13": percentage points. */
export function formatPoints(change: number): string {
	const points = Math.abs(change) * 100;
	const text = points < 9.995 ? points.toFixed(2) : points.toFixed(1);
	if (Number(text) === 0) return '±0';
	return (change > 0 ? '+' : '−') + text;
}

/** 2 → 3 is "+50 %". */
export function formatRelative(before: number, after: number): string {
	if (before === after) return '±0 %';
	if (!before) return 'new';
	const percent = ((after - before) / Math.abs(before)) * 100;
	const size = Math.abs(percent);
	if (size >= 1000) return `× ${(after / before).toPrecision(3)}`;
	const text = size < 9.95 ? size.toFixed(1) : size.toFixed(0);
	if (Number(text) === 0) return '±0 %';
	return (percent > 0 ? '+' : '−') + text + ' %';
}

type Direction = 'more' | 'less' | 'same';

/** Changes below a twentieth of a point count as noise. */
export function directionOf(change: number): Direction {
	if (Math.abs(change) < 0.0005) return 'same';
	return change > 0 ? 'more' : 'less';
}

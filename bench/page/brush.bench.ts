/* How soon the page answers to a hand: a run that begins, a window that is brushed. */
import { addressOf, brush, firstMove, flameSeconds, openView } from '../../tests/browser/actions';
import { figure } from './figures';
import { quantile } from './frames';
import { test } from '../../tests/browser/test';
import { until } from '../../tests/browser/wait';

const FIRST_MOVE_MS = 5_000;
const BRUSH_MS = 100;

test('a run moves soon, and a window has its flame graph at once', async ({ server, screens }) => {
	const { page } = await screens.open();
	const moved = firstMove(page);
	await page.getByRole('button', { name: /demo/i }).click();
	figure('from Run to the first moving line', await moved, 'ms', FIRST_MOVE_MS);
	const run = await until('the run is open', () => addressOf(page).get('run'));
	await server.ends(run);
	await openView(page, 'Flame graph');
	await until('the flame graph is there', () => flameSeconds(page));
	const times: number[] = [];
	for (const from of [0.1, 0.2, 0.3, 0.4, 0.5]) times.push(await brush(page, [from, from + 0.15]));
	const half = quantile(times, 0.5);
	figure('from releasing the brush to its flame graph, half of five', half, 'ms', BRUSH_MS);
	figure('  the slowest', Math.max(...times), 'ms');
});

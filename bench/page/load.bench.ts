/* How soon one can do something on the page. */
import { figure } from './figures';
import { DESKTOP } from '../../tests/browser/page';
import { test } from '../../tests/browser/test';
import { until } from '../../tests/browser/wait';

const INTERACTIVE_MS = 1000;

/** Runs before the page: notes when the first thing that one can press is on the screen. */
function noteFirstButton(): void {
	const look = () => {
		const button = document.querySelector('main button:not(:disabled), main input:not(:disabled)');
		if (button) (window as unknown as { usable: number }).usable = performance.now();
		else requestAnimationFrame(look);
	};
	requestAnimationFrame(look);
}

test('the first load is soon usable', async ({ server, screens }) => {
	const context = await screens.context({ viewport: DESKTOP });
	await context.addInitScript(noteFirstButton);
	const blank = await context.newPage();
	await blank.goto(`${server.url}/?token=${server.token}`);
	const usable = await until('something can be pressed', () =>
		blank.evaluate(() => (window as unknown as { usable?: number }).usable),
	);
	figure('first load, until something can be pressed', usable, 'ms', INTERACTIVE_MS);
	await context.close();
});

/* A busy run that is watched: what that costs the browser, and whether it stays the same. */
import { cpuSeconds, Heap, rendererBytes } from './devtools';
import { figure } from './figures';
import { test } from '../../tests/browser/test';
import { until } from '../../tests/browser/wait';

const SECONDS = Number(process.env.TACHO_LIVE_S ?? 30);
const COUNTERS = [
	'task-clock',
	'cpu-clock',
	'page-faults',
	'minor-faults',
	'major-faults',
	'context-switches',
	'cpu-migrations',
	'alignment-faults',
	'emulation-faults',
	'dummy',
];
const CORE_SHARE_PCT = 30;
/** Growth between the middle and the end of a run: what is kept is bounded, so this is what wobbles. */
const GROWTH_MB = 12;

test(
	'ten counters every 10 ms and 10,000 samples a second leave the browser calm',
	{ timeout: (SECONDS + 90) * 1000 },
	async ({ server, browser, screens }) => {
		const session = await server.session('a busy hour');
		const run = await server.run(session, {
			workload: ['python3', '-c', 'while True: sorted(str(x) for x in range(3000))'],
			tool: 'both',
			events: COUNTERS,
			interval: 0.01,
			sample: { events: ['cpu-clock'], frequency: 10000, callgraph: 'fp' },
			streaming: true,
			timeout: SECONDS + 60,
		});
		await server.reaches(run.uuid, 'running');
		const { page } = await screens.open({ path: `/?session=${session}&run=${run.uuid}` });
		await page.getByRole('navigation', { name: 'Views of the selection' }).waitFor();
		const whole = await browser.newBrowserCDPSession();
		const heap = await Heap.of(browser, page);

		const before = { cpu: await cpuSeconds(whole), at: performance.now() };
		const heaps: number[] = [];
		for (let i = 1; i <= 6; i++) {
			const due = before.at + (i * SECONDS * 1000) / 6;
			await until(`second ${(i * SECONDS) / 6}`, () => performance.now() >= due, SECONDS * 1000);
			heaps.push(await heap.bytes());
		}
		const after = { cpu: await cpuSeconds(whole), at: performance.now() };
		const share = ((after.cpu - before.cpu) * 1e5) / (after.at - before.at);
		const mb = heaps.map((bytes) => bytes / 1e6);
		figure(`live run of ${SECONDS} s, CPU of the browser`, share, '% of a core', CORE_SHARE_PCT);
		figure('  JavaScript heap at the end', mb.at(-1)!, 'MB');
		figure('  growth in its second half', mb.at(-1)! - mb[2]!, 'MB', GROWTH_MB);
		figure('  memory of its pages', (await rendererBytes(whole)) / 1e6, 'MB');
		await server.post(`benchmark/${run.uuid}/cancel`, undefined);
	},
);

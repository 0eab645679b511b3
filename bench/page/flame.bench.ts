/* A flame graph of a hundred thousand boxes: how smoothly it moves, without a graphics card. */
import { flame, flameDrawn } from '../../tests/browser/actions';
import { figure } from './figures';
import { framesWhile, quantile } from './frames';
import { program } from './programs';
import { expect, test } from '../../tests/browser/test';

/** Software rendering; 60 frames a second are 16.7. */
const FRAME_MS = 33;
const NODES = 99_000;
const MOVES = 60;

test(
	'a hundred thousand boxes are moved smoothly',
	{ timeout: 150_000 },
	async ({ server, screens }) => {
		const session = await server.session('a deep tree');
		const run = await server.run(session, {
			workload: [program('branches'), '5'],
			tool: 'record',
			sample: { events: ['cpu-clock:u'], frequency: 4999, callgraph: 'fp' },
		});
		await server.reaches(run.uuid, 'done');
		const path = `/?session=${session}&run=${run.uuid}&light=1&full=1`;
		const { page } = await screens.open({ path });
		const nodes = await flameDrawn(page);
		expect(nodes, 'boxes of the graph').toBeGreaterThan(NODES);
		const box = (await flame(page).boundingBox())!;
		await page.mouse.move(box.x + box.width / 2, box.y + box.height * 0.6);

		const zooming = await framesWhile(page, async () => {
			for (let i = 0; i < MOVES; i++) await page.mouse.wheel(0, i % 20 < 10 ? -120 : 120);
		});
		const panning = await framesWhile(page, async () => {
			await page.mouse.down();
			for (let i = 0; i < MOVES; i++)
				await page.mouse.move(
					box.x + box.width * (0.5 + 0.3 * Math.sin(i / 6)),
					box.y + box.height / 2,
				);
			await page.mouse.up();
		});
		for (const [what, frames] of Object.entries({ zooming, panning })) {
			expect(frames.length, `frames while ${what}`).toBeGreaterThan(10);
			const half = quantile(frames, 0.5);
			figure(`flame graph of ${nodes} boxes, ${what}, half of the frames`, half, 'ms', FRAME_MS);
			figure('  95 of 100 frames', quantile(frames, 0.95), 'ms');
		}
	},
);

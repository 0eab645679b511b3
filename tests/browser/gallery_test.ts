/* What the tests of screens have in common: both themes of one size. */
import { expectAccessible } from './axe';
import { measure, PLACES, type Measured } from './gallery';
import { DESKTOP, PHONE, type Theme } from './page';
import { isLeftOut, shoot } from './shots';
import { expect, test } from './test';

let measured: Promise<Measured> | null = null;

export function testScreens(size: 'desktop' | 'phone'): void {
	const viewport = size === 'desktop' ? DESKTOP : PHONE;
	const touch = size === 'phone';
	test(`a first visit, ${size}`, async ({ screens }) => {
		for (const theme of ['light', 'dark'] as Theme[]) {
			const { page } = await screens.open({ viewport, theme, touch });
			await page.getByRole('button', { name: /demo/i }).waitFor();
			await expectAccessible(page, `first visit, ${size}, ${theme}`);
			await shoot(page, `first-${size}-${theme}`);
		}
	});
	for (const theme of ['light', 'dark'] as Theme[])
		test(`every screen, ${size}, ${theme}`, { timeout: 900_000 }, async ({ server, screens }) => {
			measured ??= measure(server);
			const facts = await measured;
			const screen = await screens.open({ viewport, theme, touch });
			screen.expect(/status of 404.*00000000-0000-4000-8000/);
			const wrong: string[] = [];
			for (const place of PLACES.filter((one) => !one.only || one.only === size)) {
				const name = `${place.name}-${size}-${theme}`;
				const path = place.path(facts);
				if (isLeftOut(name) || path === null) continue;
				await screen.page.goto(server.url + path);
				try {
					await place.ready(screen.page);
					await expectAccessible(screen.page, name);
				} catch (error) {
					wrong.push(`${name}: ${(error as Error).message}`);
				}
				await shoot(screen.page, name);
			}
			expect(wrong.join('\n\n'), 'screens that are not as they should be').toBe('');
		});
}

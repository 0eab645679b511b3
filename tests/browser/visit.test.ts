/* Who may see the page. */
import { expectAccessible } from './axe';
import { expect, test } from './test';

test('the address that the server prints opens the page, and the token leaves the address', async ({
	screens,
}) => {
	const { page } = await screens.open();
	await page.getByRole('banner').waitFor();
	expect(page.url()).not.toContain('token');
	await page.reload();
	await page.getByRole('banner').waitFor();
	await expectAccessible(page, 'the first visit');
});

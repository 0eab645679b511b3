/* Programs that do not do what one wants: the page says why. */
import { addressOf, command, form, runButton, start } from './actions';
import { expect, test } from './test';

test('a program that fails explains itself on the screen', async ({ server, screens }) => {
	const session = await server.session('failing');
	const { page } = await screens.open({ path: `/?session=${session}` });
	const run = await start(page, 'ls /no/such/directory');
	const facts = await server.reaches(run, 'done', 'failed');
	expect(facts.exit_status).toBe(2);
	await page
		.getByText(/status 2\b/)
		.first()
		.waitFor();
	await page
		.getByText('/no/such/directory’: No such file')
		.or(page.getByText("'/no/such/directory': No such file"))
		.first()
		.waitFor();
});

test('a program that is not there is said at once, and the form stays', async ({
	server,
	screens,
}) => {
	const session = await server.session('missing');
	const { page } = await screens.open({ path: `/?session=${session}` });
	await command(page).fill('no-such-program --option');
	await runButton(page).click();
	await page
		.getByText(/no-such-program.*(not found|No such file)/i)
		.first()
		.waitFor();
	expect(await command(page).inputValue()).toBe('no-such-program --option');
});

test('a form without a command says what is missing, also while events are on their way', async ({
	server,
	screens,
}) => {
	const session = await server.session('nothing');
	const context = await screens.context();
	let answer = () => {};
	const asked = new Promise<void>((now) => (answer = now));
	await context.route(/\/emap\?search=cycles/, async (route) => {
		await asked;
		await route.continue();
	});
	const { page } = await screens.tab(context, { path: `/?session=${session}` });
	await runButton(page).click();
	const missing = form(page).getByRole('alert').first();
	await missing.waitFor();
	const events = page.waitForResponse(/\/emap\?search=cycles/);
	answer();
	await (await events).finished();
	await form(page).getByText('task-clock').first().waitFor();
	expect(await missing.isVisible()).toBe(true);
	expect(await command(page).getAttribute('aria-invalid')).toBe('true');
	expect(addressOf(page).get('run')).toBeNull();
});

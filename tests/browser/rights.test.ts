/* Who may do what. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expectAccessible } from './axe';
import { addressOf, views } from './actions';
import { expect, RUN_TOKENS, testWith } from './test';
import { until } from './wait';

const test = testWith(...RUN_TOKENS);

const RUN = {
	workload: ['true'],
	tool: 'both',
	sample: { events: ['cpu-clock'] },
};

test('who may only look sees everything, and nothing to press', async ({ server, screens }) => {
	const session = await server.session('to be looked at');
	const run = await server.run(session, RUN);
	await server.reaches(run.uuid, 'done');
	const token = await server.user('ann', 'look');
	const { page } = await screens.open({ token });
	await page
		.getByRole('link', { name: /to be looked at/ })
		.first()
		.waitFor();
	for (const name of [/new session/i, /import/i, /demo/i])
		expect(await page.getByRole('button', { name }).count(), String(name)).toBe(0);
	await page.goto(`${server.url}/?session=${session}&run=${run.uuid}`);
	await views(page).waitFor();
	for (const name of ['Run', 'Run again', 'Cancel', /delete/i])
		expect(await page.getByRole('button', { name, exact: true }).count(), String(name)).toBe(0);
	expect(await page.getByRole('form', { name: 'New run' }).count()).toBe(0);
});

test('runs of others are looked at and run again, but not changed', async ({ server, screens }) => {
	const session = await server.session('of two people');
	const run = await server.run(session, RUN);
	await server.reaches(run.uuid, 'done');
	const token = await server.user('carl', 'run');
	const path = `/?session=${session}&run=${run.uuid}&view=details`;
	const { page } = await screens.open({ token, path });
	const form = page.getByRole('form', { name: /^Name, note and tags/ });
	const note = form.getByRole('textbox', { name: 'Note' });
	await form.getByText('Started by admin: only admin and administrators may').waitFor();
	expect(await note.isDisabled()).toBe(true);
	await page.getByRole('banner').getByRole('button', { name: 'of two people' }).click();
	const remove = page.getByRole('button', { name: 'Delete with all runs' });
	expect(await remove.isDisabled()).toBe(true);
	await page.keyboard.press('Escape');
	await page.getByRole('button', { name: /^More about/ }).click();
	const items = await page.getByRole('menuitem').allTextContents();
	expect(items.map((text) => text.trim())).toEqual(['Run again', 'Copy link']);
	await page.getByRole('menuitem', { name: 'Run again' }).click();
	// That one is his own.
	await until('it is open', () => addressOf(page).get('run') !== run.uuid);
	await until('he may write a note', () => note.isEnabled());
});

test('without a token one is asked for it, and it opens the page', async ({ server, screens }) => {
	const screen = await screens.open({ token: '' });
	screen.expect(/401/);
	const { page } = screen;
	const field = page.getByRole('textbox', { name: /token/i });
	await field.waitFor();
	await expectAccessible(page, 'the page without a token');
	await field.fill('x'.repeat(43));
	await page.getByRole('button', { name: 'Open' }).click();
	await page.getByRole('textbox', { name: /token/i }).fill(server.token);
	await page.getByRole('button', { name: 'Open' }).click();
	await page.getByRole('banner').waitFor();
	expect(page.url()).not.toContain('token');
});

test('a token that is revoked while the page is open', async ({ server, screens }) => {
	const session = await server.session('soon closed');
	const token = await server.user('bob', 'run');
	const screen = await screens.open({ token, path: `/?session=${session}` });
	screen.expect(/401/);
	await screen.page.getByRole('form', { name: 'New run' }).waitFor();
	await server.answer('users/bob', { method: 'DELETE' });
	await screen.page.keyboard.press('h');
	await screen.page.getByRole('heading', { name: /token is no longer valid/i }).waitFor();
});

test('a link on another site opens for who is known here', async ({ server, screens }) => {
	const other = createServer((_, answer) => {
		answer.setHeader('Content-Type', 'text/html');
		answer.end(`<a href="${server.url}/?view=output">a link in a mail</a>`);
	});
	await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
	try {
		const screen = await screens.open();
		// The first try comes without the cookie; the second is the page's own.
		screen.expect(/401/, /favicon/);
		await screen.page.getByRole('banner').waitFor();
		// For a browser this is another site than 127.0.0.1.
		await screen.page.goto(`http://localhost:${(other.address() as AddressInfo).port}/`);
		await screen.page.getByRole('link').click();
		await screen.page.getByRole('banner').waitFor();
		expect(screen.page.url()).toBe(`${server.url}/?view=output`);
	} finally {
		other.close();
	}
});

/* Pages of a browser that nobody may complain on: an error in the console, an exception, a request that
 * failed or was refused by the page's policy fails the test, unless the test has said that it expects it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { BUILD, type Server } from './server';

export const DESKTOP = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };
export type Theme = 'light' | 'dark';

/** The longest that a test waits for something on the page. */
const PATIENCE_MS = 120_000;

export interface Look {
	viewport?: { width: number; height: number };
	theme?: Theme;
	/** By fingers instead of a mouse. */
	touch?: boolean;
	/** Who looks: the token of the server's administrator if not said, none with ''. */
	token?: string;
	/** The part of the address behind the server's name. */
	path?: string;
}

export async function launch(...more: string[]): Promise<Browser> {
	const root = process.getuid?.() === 0;
	return chromium.launch({
		executablePath: '/usr/bin/chromium',
		args: [...(root ? ['--no-sandbox'] : []), ...more],
	});
}

export class Screen {
	readonly problems: string[] = [];
	private readonly expected: RegExp[] = [];

	constructor(
		readonly page: Page,
		readonly context: BrowserContext,
	) {
		page.on('console', (message) => {
			if (message.type() === 'error')
				this.note(`console: ${message.text()} (${message.location().url})`);
		});
		page.on('pageerror', (error) => this.note(`exception: ${error.stack ?? error.message}`));
		page.on('requestfailed', (request) => {
			const why = request.failure()?.errorText ?? '';
			// What the page itself gives up, because something newer was asked, is no failure.
			if (why !== 'net::ERR_ABORTED') this.note(`request: ${request.url()}: ${why}`);
		});
		page.on('crash', () => this.note('the page crashed'));
	}

	private note(problem: string): void {
		this.problems.push(problem);
	}

	/** From now on and before, problems like this are part of the test. */
	expect(...problems: RegExp[]): void {
		this.expected.push(...problems);
	}

	get unexpected(): string[] {
		return this.problems.filter((p) => !this.expected.some((e) => e.test(p)));
	}
}

/** Everything that one test opens. */
export class Screens {
	private readonly all: Screen[] = [];

	constructor(
		private readonly browser: Browser,
		private readonly server: Server,
	) {}

	/** A visitor who was never here before. */
	async context(look: Look = {}): Promise<BrowserContext> {
		const context = await this.browser.newContext({
			viewport: look.viewport ?? DESKTOP,
			colorScheme: look.theme ?? 'light',
			hasTouch: look.touch,
			isMobile: look.touch,
			permissions: ['clipboard-read', 'clipboard-write'],
			reducedMotion: 'reduce',
		});
		context.setDefaultTimeout(PATIENCE_MS);
		return context;
	}

	async open(look: Look = {}): Promise<Screen> {
		return this.tab(await this.context(look), look);
	}

	/** One more tab of a visitor. */
	async tab(context: BrowserContext, look: Look = {}): Promise<Screen> {
		const screen = new Screen(await context.newPage(), context);
		this.all.push(screen);
		const url = new URL(this.server.url + (look.path ?? '/'));
		const token = look.token ?? this.server.token;
		if (token) url.searchParams.set('token', token);
		await screen.page.goto(url.href);
		return screen;
	}

	/** Pictures of all that is open, for who has to find out why a test failed. */
	async keep(name: string): Promise<void> {
		const folder = join(BUILD, 'browser-failures');
		mkdirSync(folder, { recursive: true });
		const file = name.replace(/[^\w-]+/g, '-').slice(0, 80);
		for (const [i, screen] of this.all.entries()) {
			if (screen.page.isClosed()) continue;
			const path = join(folder, `${file}-${i}.png`);
			await screen.page.screenshot({ path, timeout: 5000 }).catch(() => {});
			console.error(`picture of the failure: ${path} (${screen.page.url()})`);
		}
	}

	/** What nobody expected. */
	problems(): string[] {
		return this.all.flatMap((screen) => screen.unexpected);
	}

	async close(): Promise<void> {
		for (const context of new Set(this.all.map((screen) => screen.context))) await context.close();
	}
}

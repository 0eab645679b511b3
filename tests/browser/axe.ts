/* Accessibility by axe-core: every rule of WCAG 2.1 A and AA. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'];

async function look(page: Page): Promise<string[]> {
	const results = await page.evaluate(async (tags) => {
		const { axe } = window as unknown as { axe: typeof import('axe-core') };
		return (await axe.run(document, {
			runOnly: { type: 'tag', values: tags },
			resultTypes: ['violations'],
		})) as AxeResults;
	}, TAGS);
	expect(results.passes.length, 'rules that were checked').toBeGreaterThan(5);
	return results.violations.flatMap((violation) =>
		violation.nodes.map(
			(node) => `${violation.id} at ${node.target.join(' ')}: ${node.failureSummary}`,
		),
	);
}

/** Fails with what is wrong, where, and how to find out more. */
export async function expectAccessible(page: Page, screen: string): Promise<void> {
	// Through the debugger, which the policy of the page does not concern.
	await page.evaluate(source);
	const found = await look(page);
	if (found.length) throw new Error(`${screen} is not accessible:\n${found.join('\n')}`);
}

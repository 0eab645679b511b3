/* Tells the runner (tests/runner/vitest.py) which test begins and what became of it: a JSON object a line, in
 * the file that TACHO_EVENTS names. Without that variable nobody is told. */
import { appendFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { SerializedError } from 'vitest';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

const FILE = process.env.TACHO_EVENTS;

function tell(what: object): void {
	appendFileSync(FILE!, JSON.stringify(what) + '\n');
}

function said(errors: readonly { message: string; stack?: string }[] | undefined): string {
	return (errors ?? []).map((error) => error.stack || error.message).join('\n');
}

function of(test: TestCase): { file: string; name: string } {
	return {
		file: test.module.moduleId,
		name: `${basename(test.module.moduleId)}: ${test.fullName}`,
	};
}

/** A test may have a limit of its own, which Vitest does not tell in its interface. */
function limitOf(test: TestCase): number {
	return (test as unknown as { task: { timeout?: number } }).task.timeout ?? 0;
}

class Outcomes implements Reporter {
	onTestCaseReady(test: TestCase): void {
		tell({ start: of(test), title: test.fullName, timeout_ms: limitOf(test) });
	}

	onTestCaseResult(test: TestCase): void {
		const result = test.result();
		// The reason that was given to skip().
		const text = result.state === 'skipped' ? (result.note ?? '') : said(result.errors);
		const ms = test.diagnostic()?.duration ?? 0;
		tell({ end: of(test), title: test.fullName, state: result.state, ms, text });
	}

	onTestModuleEnd(module: TestModule): void {
		tell({ file_end: module.moduleId, text: said(module.errors()) });
	}

	onTestRunEnd(_: readonly TestModule[], unhandled: readonly SerializedError[]): void {
		tell({ finished: true, text: said(unhandled) });
	}
}

/** For the configuration of Vitest. */
export function reporters(): (Reporter | 'verbose')[] {
	return FILE ? ['verbose', new Outcomes()] : ['verbose'];
}

/* What failed, once more and in short, for the end of a long log: see `run`. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SerializedError } from 'vitest';
import type { Reporter, TestModule } from 'vitest/node';
import { BUILD } from './server';

const FILE = join(BUILD, 'page-failures.txt');
const LINES = 6;

function brief(name: string, errors: readonly { message: string }[]): string {
	const said = errors.flatMap((error) => error.message.split('\n').slice(0, LINES));
	return `failed: ${name}\n${said.map((line) => `    ${line}\n`).join('')}`;
}

export class Failures implements Reporter {
	onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
		const report = (text: string) => appendFileSync(FILE, text);
		for (const module of modules) {
			if (module.errors().length) report(brief(module.moduleId, module.errors()));
			for (const test of module.children.allTests('failed'))
				report(brief(test.fullName, test.result().errors ?? []));
		}
		if (unhandled.length) report(brief('outside of the tests', unhandled));
	}
}

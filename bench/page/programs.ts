/* Programs to be measured, built from the C files beside this when they are needed. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILD } from '../../tests/browser/server';

/** With frame pointers and names, so that stacks are whole. */
export function program(name: string): string {
	const folder = join(BUILD, 'page-programs');
	const source = fileURLToPath(new URL(`${name}.c`, import.meta.url));
	const flags = ['-O1', '-g', '-fno-omit-frame-pointer', '-fno-optimize-sibling-calls'];
	mkdirSync(folder, { recursive: true });
	execFileSync('cc', [...flags, '-o', join(folder, name), source]);
	return join(folder, name);
}

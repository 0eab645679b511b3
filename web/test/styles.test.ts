/* Style sheets share one space of names: a class that two of them define would change both views. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const VIEWS = new URL('../src/views/', import.meta.url);

/** The classes that rules begin with and are about; `.a .b` is about what is inside of an `.a`. */
function definedIn(css: string): Set<string> {
	const rules = css.replace(/\/\*.*?\*\//gs, '').matchAll(/([^{};]+)\{/g);
	const selectors = [...rules].flatMap((rule) => rule[1]!.split(',')).map((one) => one.trim());
	const names = selectors.map((one) => /^[a-z]*\.([\w-]+)[^\s>+~]*$/.exec(one)?.[1]);
	return new Set(names.filter((name) => name !== undefined));
}

test('what a style sheet defines is found', () => {
	const css = `/* .no {} */ .a, button.b:hover { x: y } .c > .d { } @media print { .e.warn { } }`;
	expect([...definedIn(css)]).toEqual(['a', 'b', 'e']);
});

test('a class is defined by one style sheet', () => {
	const owner = new Map<string, string>();
	const twice: string[] = [];
	const sheets = (readdirSync(VIEWS, { recursive: true }) as string[]).filter((name) =>
		name.endsWith('.css'),
	);
	for (const file of sheets)
		for (const name of definedIn(readFileSync(new URL(file, VIEWS), 'utf8'))) {
			if (owner.has(name)) twice.push(`.${name}: ${owner.get(name)} and ${file}`);
			owner.set(name, file);
		}
	expect(owner.get('card')).toBe('app/base.css');
	expect(twice).toEqual([]);
});

import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { joinWords, needsShell, quoteWord, splitWords } from '../src/logic/words';

describe('splitWords', () => {
	test.each<[string, string[]]>([
		['', []],
		['  ls  -la\t/tmp\n', ['ls', '-la', '/tmp']],
		['a "b c" \'d e\'', ['a', 'b c', 'd e']],
		['a"b"\'c\'d', ['abcd']],
		["''", ['']],
		['a\\ b \\"c', ['a b', '"c']],
		['"a\\$b\\"c\\n"', ['a$b"c\\n']],
		["'a\\b'", ['a\\b']],
		['ls \\\n -l', ['ls', '-l']],
		['a\\\nb', ['ab']],
		['*.c $HOME |', ['*.c', '$HOME', '|']],
	])('%j', (text, words) => expect(splitWords(text)).toEqual({ words, problem: null }));

	test.each(['"a', "'a", 'a "b\\"', 'a\\'])('%j is not a command', (text) => {
		expect(splitWords(text).words).toBeNull();
		expect(splitWords(text).problem).toMatch(/quote|backslash/);
	});
});

test('words come back from their quoted form, also in a real shell', () => {
	const words = ['plain', '', 'two words', "it's", '$HOME', '*', 'a\nb', '`x`', '"', '\\', 'ä|;&'];
	expect(splitWords(joinWords(words)).words).toEqual(words);
	const printed = execFileSync('sh', ['-c', `printf '%s\\0' ${joinWords(words)}`]).toString();
	expect(printed.split('\0').slice(0, -1)).toEqual(words);
});

test('only what needs quotes gets them', () => {
	expect(quoteWord('--a=b/c.d:e,f')).toBe('--a=b/c.d:e,f');
	expect(quoteWord('a b')).toBe("'a b'");
});

describe('needsShell', () => {
	test.each<[string, string]>([
		['find /usr | sort', '|'],
		['make && ./a.out', '&&'],
		['ls > /tmp/x', '>'],
		['ls *.c', '*'],
		['echo $HOME', '$'],
		['echo "$HOME"', '$'],
		['cd /tmp; ls', ';'],
		['FOO=1 ./a.out', '='],
	])('%j has %s', (text, found) => expect(needsShell(text)).toBe(found));

	test.each([
		'ls -la /tmp',
		"grep 'a|b' file",
		'dd if=/dev/zero of=/tmp/x',
		"echo '$x'",
		'a \\| b',
	])('%j needs none', (text) => expect(needsShell(text)).toBeNull());
});

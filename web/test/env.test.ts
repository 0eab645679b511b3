import { expect, test } from 'vitest';
import { mergeVariables, parseVariables } from '../src/logic/run/env';

test('lines of variables', () => {
	expect(parseVariables('A=1\n# no\n\nexport B="two words"\nC=\nD=a=b\n')).toEqual([
		{ name: 'A', value: '1' },
		{ name: 'B', value: 'two words' },
		{ name: 'C', value: '' },
		{ name: 'D', value: 'a=b' },
	]);
	expect(parseVariables("Q='it is'")).toEqual([{ name: 'Q', value: 'it is' }]);
});

test('other text is left alone', () => {
	expect(parseVariables('just words')).toBeNull();
	expect(parseVariables('A=1\nwords')).toBeNull();
	expect(parseVariables('')).toBeNull();
});

test('the later one counts', () => {
	const merged = mergeVariables(
		[
			{ name: 'A', value: '1' },
			{ name: '', value: '' },
			{ name: 'B', value: '2' },
		],
		[{ name: 'A', value: '3' }],
	);
	expect(merged).toEqual([
		{ name: 'B', value: '2' },
		{ name: 'A', value: '3' },
	]);
});

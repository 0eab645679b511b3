import { expect, it } from 'vitest';
import { changesOf, parseTags } from '../src/logic/run/tags';

it('keeps each tag once and none that is empty', () => {
	expect(parseTags(' a, b,, a ,c d')).toEqual(['a', 'b', 'c d']);
	expect(parseTags('')).toEqual([]);
});

it('keeps within what the server takes', () => {
	expect(parseTags(Array.from({ length: 50 }, (_, i) => 't' + i).join(','))).toHaveLength(32);
	expect(parseTags('x'.repeat(300))[0]).toHaveLength(100);
});

it('tells only what was changed', () => {
	const run = { description: null, note: 'old', tags: ['a', 'b'] };
	expect(changesOf(run, { name: ' ', note: 'old ', tags: 'a,b' })).toEqual({});
	expect(changesOf(run, { name: '', note: '', tags: 'a,b' })).toEqual({ note: null });
	expect(changesOf(run, { name: 'x', note: 'old', tags: 'b' })).toEqual({
		description: 'x',
		tags: ['b'],
	});
});

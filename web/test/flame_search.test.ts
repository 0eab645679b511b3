import { describe, expect, it } from 'vitest';
import { matcher, searchGraph } from '../src/logic/flame/flame_search';
import { sampleGraph } from './flame_sample';

describe('search', () => {
	it('does not count what stands on a match again', () => {
		// a has 60, and 10 more below b; b below a is in the first 60 already.
		const a = searchGraph(sampleGraph(), '/^a$/')!;
		expect(a.share).toBeCloseTo(0.7);
		expect(a.functions).toBe(1);
		const both = searchGraph(sampleGraph(), '/^(a|b)$/')!;
		expect(both.share).toBeCloseTo(0.9);
		expect(both.functions).toBe(2);
		expect(Array.from(both.nodes)).toEqual([0, 1, 1, 0, 0, 1, 1, 0]);
	});

	it('finds modules and does not care for case', () => {
		expect(searchGraph(sampleGraph(), 'LIBC')!.share).toBeCloseTo(0.2);
	});

	it('takes text as it is', () => {
		expect(searchGraph(sampleGraph(), '[kernel')!.share).toBeCloseTo(0.4);
		expect(searchGraph(sampleGraph(), '.*')!.functions).toBe(0);
	});

	it('never matches the root, and says when an expression is broken', () => {
		expect(searchGraph(sampleGraph(), '/^all$/')!.functions).toBe(0);
		expect(matcher('/(/')).toBeNull();
		expect(searchGraph(sampleGraph(), '/(/')).toBeNull();
		expect(searchGraph(sampleGraph(), '')).toBeNull();
	});
});

import { expect, it } from 'vitest';
import { mayChangeRun, ownerWords } from '../src/logic/run/owner';

it('lets administrators change all runs, and others their own', () => {
	const own = { user: 'ann' };
	for (const run of [own, { user: 'bob' }, { user: null }]) {
		expect(mayChangeRun({ name: 'root', role: 'administer' }, run)).toBe(true);
		expect(mayChangeRun({ name: 'ann', role: 'run' }, run)).toBe(run === own);
		expect(mayChangeRun({ name: 'ann', role: 'look' }, run)).toBe(false);
		expect(mayChangeRun(null, run)).toBe(false);
	}
});

it('says whose run it is', () => {
	expect(ownerWords({ user: 'ann' })).toContain('only ann and administrators');
	expect(ownerWords({ user: null })).toContain('only administrators');
});

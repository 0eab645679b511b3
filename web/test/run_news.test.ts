import { describe, expect, it } from 'vitest';
import type { Run } from '../src/api/types';
import { RunNews } from '../src/logic/run/run_news';

const run = (state: Run['state'], uuid = 'one') => ({ uuid, state }) as Run;

describe('what is heard of runs', () => {
	it('an end is not taken back by an answer that it has overtaken', () => {
		const news = new RunNews();
		expect(news.newest(run('running')).state).toBe('running');
		expect(news.newest(run('done')).state).toBe('done');
		expect(news.newest(run('running')).state).toBe('done');
		expect(news.newest(run('queued')).state).toBe('done');
		expect(news.newest(run('running', 'two')).state).toBe('running');
	});

	it('the newest word about an ended run counts', () => {
		const news = new RunNews();
		news.newest(run('done'));
		const noted = { ...run('done'), note: 'slow disk' };
		expect(news.newest(noted)).toBe(noted);
		expect(news.newest(run('running'))).toBe(noted);
	});

	it('does not grow for ever', () => {
		const news = new RunNews();
		for (let i = 0; i < 1000; i++) news.newest(run('done', String(i)));
		expect(news.newest(run('running', '999')).state).toBe('done');
		expect(news.newest(run('running', '0')).state).toBe('running');
	});
});

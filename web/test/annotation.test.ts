import { describe, expect, it } from 'vitest';
import {
	codeRows,
	codeText,
	hottestRows,
	possibleViews,
	type AnnotatedFunction,
} from '../src/logic/tables/annotation';

const CODE: AnnotatedFunction = {
	function: 'work',
	samples: 10,
	share_of_all_pct: 50,
	notes: [],
	instructions: [
		{ address: '0x10', text: 'push rbp', file: 'a.c', line: 3, samples: 1, share_pct: 10 },
		{ address: '0x11', text: 'add', file: 'a.c', line: 5, samples: 6, share_pct: 60 },
		{ address: '0x14', text: 'add', file: 'a.c', line: 5, samples: 0, share_pct: 0 },
		{
			address: '0x17',
			text: 'call 0x40',
			names: 'puts',
			inlined: 'say',
			file: 'b.h',
			line: 1,
			samples: 3,
			share_pct: 30,
		},
	],
	lines: [
		{ file: 'a.c', line: 3, text: 'int work(void)', samples: 1, share_pct: 10 },
		{ file: 'a.c', line: 5, text: '\tx += y;', samples: 6, share_pct: 60 },
		{ file: 'b.h', line: 1, text: 'puts(s);', samples: 3, share_pct: 30 },
	],
};

describe('code', () => {
	it('as source has a heading for each file and says where lines are left out', () => {
		const rows = codeRows(CODE, 'source');
		expect(rows.map((r) => r.kind)).toEqual(['file', 'source', 'gap', 'source', 'file', 'source']);
		expect(rows[3]!.share).toBeCloseTo(0.6);
	});

	it('as both has each line above its instructions, counted once', () => {
		const rows = codeRows(CODE, 'both');
		expect(rows.map((r) => r.kind[0]).join('')).toBe('fsisiifsi');
		expect(rows.reduce((sum, r) => sum + r.share, 0)).toBeCloseTo(1);
		expect(rows.at(-1)!.remark).toBe('puts · inlined say');
	});

	it('knows the hottest rows, and no others', () => {
		const rows = codeRows(CODE, 'assembly');
		expect(hottestRows(rows)).toEqual([1, 3, 0]);
	});

	it('offers only what is there', () => {
		expect(possibleViews(CODE)).toEqual(['both', 'source', 'assembly']);
		const lines = CODE.lines.map(({ text, ...line }) => (text ? line : line));
		expect(possibleViews({ ...CODE, lines })).toEqual(['assembly']);
		expect(possibleViews({ ...CODE, instructions: [], lines: [] })).toEqual([]);
	});

	it('can be copied as text', () => {
		expect(codeText(codeRows(CODE, 'assembly')).split('\n')[3]).toBe(
			'  30.0 %        0x17  call 0x40  # puts · inlined say',
		);
	});
});

import { describe, expect, it } from 'vitest';
import { makePlots } from '../src/logic/timeline/timeline_plots';
import { escapeXml, runsOf, timelineSvg, type Ink } from '../src/logic/timeline/timeline_svg';

const ink: Ink = {
	ink: '#000000',
	dim: '#555555',
	line: '#dddddd',
	surface: '#ffffff',
	accent: '#00aaaa',
	second: '#aa5500',
	series: ['#111111', '#222222'],
};
const mean = [1, 2, NaN, 4];
const t = [0, 1e9, 2e9, 3e9];
const plots = makePlots(
	[],
	[{ name: 'a<b>&"c"', unit: null, scale: 1, cpu: null, t, min: mean, max: mean, mean }],
);
const picture = {
	title: 'find <usr>',
	plots,
	range: { from: 0, to: 4e9 },
	window: { from: 1e9, to: 2e9 },
	second: null,
	ink,
	width: 800,
};

describe('the timeline as SVG', () => {
	const svg = timelineSvg(picture);
	it('has title, names, units and times', () => {
		expect(svg).toContain('<title>find &lt;usr&gt;</title>');
		expect(svg).toContain('a&lt;b&gt;&amp;&quot;c&quot;');
		expect(svg).toContain('>/s</text>');
		for (const time of ['0 s', '1 s', '4 s']) expect(svg).toContain(`>${time}</text>`);
		expect(svg).toContain('>1 s</text>');
	});
	it('leaves gaps open', () => {
		const line = /<path d="([^"]+)" fill="none" stroke="#111111"/.exec(svg)![1]!;
		expect(line.match(/M/g)).toHaveLength(2);
	});
	it('draws windows only where they are seen', () => {
		expect(svg).toContain('fill="#00aaaa" fill-opacity="0.13"');
		const elsewhere = timelineSvg({ ...picture, window: { from: 9e9, to: 10e9 } });
		expect(elsewhere).not.toContain('fill-opacity="0.13"');
	});
	it('is never more than text', () => {
		expect(escapeXml('a\u0000\u001b<script>')).toBe('a\ufffd\ufffd&lt;script&gt;');
		expect(svg).not.toContain('<usr>');
	});
	it('marks what goes beyond the axis', () => {
		const flat = Array.from({ length: 400 }, () => 1);
		const max = flat.map((v, i) => (i === 7 || i === 8 ? 99 : v));
		const line = { name: 'a', unit: null, scale: 1, cpu: null, min: flat, max, mean: flat };
		const spiky = makePlots([], [{ ...line, t: flat.map((_, i) => i * 1e7) }]);
		expect(timelineSvg({ ...picture, plots: spiky }).match(/l-4 6h8z/g)).toHaveLength(1);
		expect(svg).not.toContain('l-4 6h8z');
	});
	it('finds runs of values', () => {
		expect(runsOf([1, null, 2, 3, null], [0, 1, 2, 3, 4], { from: 0, to: 9 })).toEqual([
			[0, 1],
			[2, 4],
		]);
		expect(runsOf([1, 2, 3], [0, 1, 2], { from: 1, to: 1 })).toEqual([[1, 2]]);
	});
});

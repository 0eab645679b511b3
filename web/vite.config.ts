import { defineConfig } from 'vite';
import { pxToRem } from './src/logic/rem';

// `npm run dev` beside a running server: TACHO_URL=http://127.0.0.1:5000 TACHO_TOKEN=… npm run dev
const { TACHO_URL, TACHO_TOKEN } = process.env;
const proxy = TACHO_URL
	? { '/api': { target: TACHO_URL, headers: { Authorization: 'Bearer ' + TACHO_TOKEN } } }
	: undefined;

/** Our style sheets; uPlot lays itself out in pixels. */
const followsRoot = {
	postcssPlugin: 'follows-root',
	Declaration(rule: { value: string; source?: { input: { file?: string } } }) {
		if (rule.source?.input.file?.includes('node_modules')) return;
		const value = pxToRem(rule.value);
		if (value !== rule.value) rule.value = value;
	},
};

export default defineConfig({
	base: '/',
	css: { postcss: { plugins: [followsRoot] } },
	esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
	build: {
		target: 'es2022',
		assetsDir: 'assets',
		// The policy of the page allows no data: scripts, and files are answered from memory.
		assetsInlineLimit: 0,
		modulePreload: { polyfill: false },
		reportCompressedSize: false,
	},
	server: { host: '127.0.0.1', proxy },
	worker: { format: 'es' },
});

import { defineConfig } from 'vite';

// `npm run dev` beside a running server: TACHO_URL=http://127.0.0.1:5000 TACHO_TOKEN=… npm run dev
const { TACHO_URL, TACHO_TOKEN } = process.env;
const proxy = TACHO_URL
	? { '/api': { target: TACHO_URL, headers: { Authorization: 'Bearer ' + TACHO_TOKEN } } }
	: undefined;

export default defineConfig({
	base: '/',
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

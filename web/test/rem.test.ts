import { expect, test } from 'vitest';
import { pxToRem } from '../src/logic/rem';

test('lengths follow the root, thin lines do not', () => {
	expect(pxToRem('8px')).toBe('0.5rem');
	expect(pxToRem('1px solid var(--line)')).toBe('1px solid var(--line)');
	expect(pxToRem('-6px 3px 0 calc(100% - 46px)')).toBe('-0.375rem 3px 0 calc(100% - 2.875rem)');
	expect(pxToRem('minmax(110px, 2fr)')).toBe('minmax(6.875rem, 2fr)');
	expect(pxToRem('clamp(30px, 5vw, 42px)')).toBe('clamp(1.875rem, 5vw, 2.625rem)');
	expect(pxToRem('url(a8px.svg) #8px0')).toBe('url(a8px.svg) #8px0');
});

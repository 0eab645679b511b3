import { expect, test } from 'vitest';
import { placeBeside } from '../src/logic/floating';

const wanted = { width: 400, height: 300 };

test('below the element where there is room', () => {
	expect(placeBeside({ left: 20, top: 100, bottom: 130 }, wanted, 1440, 900)).toEqual({
		left: 20,
		top: 134,
		width: 400,
		maxHeight: 300,
	});
});

test('above it near the lower edge', () => {
	expect(placeBeside({ left: 20, top: 800, bottom: 830 }, wanted, 1440, 900)).toEqual({
		left: 20,
		bottom: 104,
		width: 400,
		maxHeight: 300,
	});
});

test('never beyond the sides, and no larger than the room', () => {
	const phone = placeBeside({ left: 200, top: 300, bottom: 330 }, wanted, 360, 500);
	expect(phone).toEqual({ left: 8, bottom: 204, width: 344, maxHeight: 288 });
	expect(placeBeside({ left: 1300, top: 0, bottom: 30 }, wanted, 1440, 900).left).toBe(1032);
});

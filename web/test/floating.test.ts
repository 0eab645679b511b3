import { expect, test } from 'vitest';
import { besidePoint, placeBeside } from '../src/logic/floating';

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

const screen = { width: 1000, height: 600 };
const size = { width: 200, height: 150 };

test('at a point: right below it, or on the other side', () => {
	expect(besidePoint({ x: 100, y: 50 }, 14, size, screen)).toEqual({ left: 114, top: 64 });
	expect(besidePoint({ x: 900, y: 500 }, 14, size, screen)).toEqual({ left: 686, top: 336 });
});

test('at a point, and on the screen as a whole', () => {
	expect(besidePoint({ x: 900, y: 560 }, 0, size, screen)).toEqual({ left: 792, top: 442 });
	const small = { width: 150, height: 120 };
	expect(besidePoint({ x: 70, y: 60 }, 14, size, small)).toEqual({ left: 8, top: 8 });
});

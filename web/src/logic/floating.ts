/* Places a panel beside an element so that all of the panel is on the screen. */

export interface Placed {
	left: number;
	/** Only one of the two is set: the panel hangs below the element, or stands above it. */
	top?: number;
	bottom?: number;
	width: number;
	maxHeight: number;
}

const MARGIN = 8;
const GAP = 4;

export function placeBeside(
	anchor: { left: number; top: number; bottom: number },
	wanted: { width: number; height: number },
	screenWidth: number,
	screenHeight: number,
): Placed {
	const width = Math.min(wanted.width, screenWidth - 2 * MARGIN);
	const left = Math.max(MARGIN, Math.min(anchor.left, screenWidth - MARGIN - width));
	const below = screenHeight - anchor.bottom - GAP - MARGIN;
	const above = anchor.top - GAP - MARGIN;
	if (below >= wanted.height || below >= above)
		return { left, top: anchor.bottom + GAP, width, maxHeight: Math.min(wanted.height, below) };
	return {
		left,
		bottom: screenHeight - anchor.top + GAP,
		width,
		maxHeight: Math.min(wanted.height, above),
	};
}

/** Places something at a point: right below it if there is room, and always fully on the screen. */
export function besidePoint(
	at: { x: number; y: number },
	gap: number,
	size: { width: number; height: number },
	screen: { width: number; height: number },
): { left: number; top: number } {
	const place = (point: number, length: number, room: number) => {
		const after = point + gap + length + MARGIN <= room;
		const before =
			gap > 0 && point - gap - length >= MARGIN ? point - gap - length : room - length - MARGIN;
		return Math.max(MARGIN, after ? point + gap : before);
	};
	return {
		left: place(at.x, size.width, screen.width),
		top: place(at.y, size.height, screen.height),
	};
}

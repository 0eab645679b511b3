/* The timeline as a file. The PNG is drawn from the SVG. */
import { runName } from '../../logic/run/run_words';
import { timelineSvg } from '../../logic/timeline/timeline_svg';
import { run } from '../../state/runs';
import { brushes, hidden, plots, visible } from '../../state/timeline';
import { saveFile } from '../parts/save_file';
import { colours } from './timeline_colours';

const WIDTH = 1200;
const PNG_SCALE = 2;

function svg(): string {
	const r = run.peek()!;
	return timelineSvg({
		title: runName(r),
		plots: plots.peek().filter((p) => !hidden.peek().has(p.key)),
		range: visible.peek(),
		...brushes.peek(),
		ink: colours.peek(),
		width: WIDTH,
	});
}

export function saveSvg(): void {
	saveFile(new Blob([svg()], { type: 'image/svg+xml' }), 'timeline.svg');
}

export async function savePng(): Promise<void> {
	const url = URL.createObjectURL(new Blob([svg()], { type: 'image/svg+xml' }));
	try {
		const image = new Image();
		image.src = url;
		await image.decode();
		const canvas = document.createElement('canvas');
		canvas.width = image.naturalWidth * PNG_SCALE;
		canvas.height = image.naturalHeight * PNG_SCALE;
		canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
		const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'));
		if (!blob) throw new Error('This browser could not make a picture of the timeline.');
		saveFile(blob, 'timeline.png');
	} finally {
		URL.revokeObjectURL(url);
	}
}

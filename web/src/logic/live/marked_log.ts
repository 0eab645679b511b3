/* Splits the server's log of both streams, in which lines of standard error are marked, into text
 * of the two streams. The log may be passed in pieces, cut anywhere. */

const MARK = '[stderr] ';

export class MarkedLog {
	private begins = true;
	private stream: 1 | 2 = 1;
	/** The beginning of a line that may turn out to be a mark. */
	private held = '';

	constructor(private readonly take: (stream: 1 | 2, text: string) => void) {}

	push(piece: string): void {
		let text = this.held + piece;
		this.held = '';
		while (text) {
			if (this.begins) {
				if (text.length < MARK.length && MARK.startsWith(text)) {
					this.held = text;
					return;
				}
				this.stream = text.startsWith(MARK) ? 2 : 1;
				if (this.stream === 2) text = text.slice(MARK.length);
			}
			// Pass on unmarked lines together, up to the next one that may be marked.
			const end = this.endOfStretch(text);
			this.take(this.stream, text.slice(0, end));
			this.begins = text[end - 1] === '\n';
			text = text.slice(end);
		}
	}

	/** Must be called after the last piece. */
	end(): void {
		if (this.held) this.take(1, this.held);
		this.held = '';
	}

	private endOfStretch(text: string): number {
		if (this.stream === 2) {
			const end = text.indexOf('\n');
			return end < 0 ? text.length : end + 1;
		}
		const marked = text.indexOf('\n' + MARK[0]);
		return marked < 0 ? text.length : marked + 1;
	}
}

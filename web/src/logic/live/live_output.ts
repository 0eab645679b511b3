/* The newest output of a workload, bounded. */

interface OutputPiece {
	stream: 1 | 2;
	text: string;
}

export interface SavedOutput {
	pieces: OutputPiece[];
	length: number;
	end: number;
	dropped: number;
}

/** In characters, most of which are single bytes. */
const KEPT = 1 << 20;
const PIECE_MAX = 1 << 14;

export class OutputTail {
	pieces: OutputPiece[] = [];
	/** Bytes before the first piece that are not kept. */
	dropped = 0;
	/** How many characters were ever added. */
	end = 0;
	private length = 0;

	constructor(private readonly kept = KEPT) {}

	/** @leftOut bytes before @text were not sent. */
	add(stream: 1 | 2, text: string, leftOut = 0): void {
		this.dropped += leftOut;
		const last = this.pieces.at(-1);
		// Few pieces, but none so long that every appended line copies much.
		if (last?.stream === stream && last.text.length + text.length <= PIECE_MAX) last.text += text;
		else this.pieces.push({ stream, text });
		this.length += text.length;
		this.end += text.length;
		let gone = 0;
		while (this.length > this.kept && gone < this.pieces.length - 1) {
			this.length -= this.pieces[gone]!.text.length;
			this.dropped += this.pieces[gone++]!.text.length;
		}
		if (gone) this.pieces.splice(0, gone);
	}

	/** Output after the first @seen characters, as far as it is kept. */
	since(seen: number): OutputPiece[] {
		const out: OutputPiece[] = [];
		let begin = this.end;
		for (let i = this.pieces.length - 1; i >= 0 && begin > seen; i--) {
			const { stream, text } = this.pieces[i]!;
			begin -= text.length;
			out.push({ stream, text: begin < seen ? text.slice(seen - begin) : text });
		}
		return out.reverse();
	}

	save(): SavedOutput {
		const { pieces, length, end, dropped } = this;
		return { pieces, length, end, dropped };
	}

	/** Takes over @saved: the result of save(), copied by a message. */
	restore(saved: SavedOutput): this {
		return Object.assign(this, saved);
	}
}

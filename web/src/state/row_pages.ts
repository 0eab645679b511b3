/* Caches the rows of a long table: the pages around the visible ones. When the question changes (another order or
 * condition), the old rows stay on the screen until the first page of the new answer arrives. */
import { signal, useSignal, useSignalEffect, type ReadonlySignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { getExact } from '../api/client';
import type { TableCell, TableColumn, TableRows } from '../api/types';
import { PAGE_ROWS, pagesToDrop, pagesWanted } from '../logic/rows/pages';
import { attempts, keyOf, type Question } from './questions';

export interface RowsAnswer {
	/** The question that rows and columns belong to; null before the first answer. */
	of: Question | null;
	/** The key of that question: changes when the rows are replaced. */
	key: string;
	/** Total number of matching rows. */
	matched: number;
	columns: TableColumn[];
	pages: ReadonlyMap<number, TableCell[][]>;
	error: Error | null;
	/** Whether visible rows or the answer to a new question are loading. */
	loading: boolean;
}

const NOTHING: RowsAnswer = {
	of: null,
	key: '',
	matched: 0,
	columns: [],
	pages: new Map(),
	error: null,
	loading: true,
};

/** Delay of requests while scrolling, so that rows that only pass by are not loaded. */
const REST_MS = 60;

export function rowAt(answer: RowsAnswer, index: number): TableCell[] | undefined {
	return answer.pages.get(Math.floor(index / PAGE_ROWS))?.[index % PAGE_ROWS];
}

export class RowPages {
	readonly answer = signal<RowsAnswer>(NOTHING);
	private question: Question | null = null;
	private key = '';
	private seen = { first: 0, last: PAGE_ROWS / 4 };
	private readonly underway = new Map<number, AbortController>();
	private rest = 0;
	private again = 0;

	ask(question: Question | null, retry = false): void {
		const key = question ? keyOf(question) : '';
		const goesOn = question?.again === this.question?.again;
		if (key === this.key && goesOn && !(retry && this.answer.peek().error)) return;
		this.stop();
		// Show the answer to a new question from its first row.
		if (key !== this.key) this.seen = { first: 0, last: this.seen.last - this.seen.first };
		this.question = question;
		this.key = key;
		if (!question) {
			this.answer.value = { ...NOTHING, loading: false };
			return;
		}
		this.change({ loading: true, error: null });
		const shown = this.answer.peek().key === key;
		for (const page of shown ? this.wanted() : [0]) this.fetch(page);
	}

	/** Sets the visible rows: @first to @last (exclusive). */
	show(first: number, last: number): void {
		const { seen } = this;
		if (seen.first === first && seen.last === last) return;
		this.seen = { first, last };
		clearTimeout(this.rest);
		this.rest = window.setTimeout(() => this.fill(), REST_MS);
	}

	stop(): void {
		for (const abort of this.underway.values()) abort.abort();
		this.underway.clear();
		clearTimeout(this.rest);
		clearTimeout(this.again);
	}

	private change(part: Partial<RowsAnswer>): void {
		this.answer.value = { ...this.answer.peek(), ...part };
	}

	private wanted(): number[] {
		return pagesWanted(this.seen.first, this.seen.last, this.answer.peek().matched);
	}

	/** Requests missing pages, and aborts requests for pages that are no longer needed. */
	private fill(): void {
		if (this.answer.peek().key !== this.key) return;
		const wanted = this.wanted();
		for (const [page, abort] of this.underway)
			if (!wanted.includes(page)) {
				abort.abort();
				this.underway.delete(page);
			}
		const { pages } = this.answer.peek();
		for (const page of wanted) if (!pages.has(page) && !this.underway.has(page)) this.fetch(page);
		this.change({ loading: this.underway.size > 0 });
	}

	private fetch(page: number): void {
		const abort = new AbortController();
		const q = this.question!;
		const query = { ...q.query, offset: page * PAGE_ROWS, limit: PAGE_ROWS };
		this.underway.set(page, abort);
		getExact<TableRows>(q.path, query, abort.signal).then(
			(answer) => !abort.signal.aborted && this.take(page, answer),
			(error: Error) => !abort.signal.aborted && this.fail(page, error),
		);
	}

	private take(page: number, answer: TableRows): void {
		this.underway.delete(page);
		const before = this.answer.peek();
		const same = before.key === this.key && before.matched === answer.matched;
		const pages = new Map(before.key === this.key ? before.pages : []);
		// In a running run, rows may have moved to other pages: keep only the visible pages, until they
		// are loaded again.
		const keep = same ? [...pages.keys()] : this.wanted();
		for (const old of pages.keys()) if (!keep.includes(old)) pages.delete(old);
		pages.set(page, answer.rows);
		for (const far of pagesToDrop(pages.keys(), page)) pages.delete(far);
		this.answer.value = {
			of: this.question,
			key: this.key,
			matched: answer.matched,
			columns: answer.columns,
			pages,
			error: null,
			loading: this.underway.size > 0,
		};
		this.fill();
		this.planAgain();
	}

	private fail(page: number, error: Error): void {
		this.underway.delete(page);
		const { key } = this.answer.peek();
		if (key === this.key) this.change({ error, loading: this.underway.size > 0 });
		else this.answer.value = { ...NOTHING, error, loading: false };
		this.planAgain();
	}

	/** Reloads the visible pages, because a running run gets new rows. */
	private planAgain(): void {
		clearTimeout(this.again);
		if (!this.question?.again || this.underway.size) return;
		this.again = window.setTimeout(() => {
			for (const page of this.wanted()) if (!this.underway.has(page)) this.fetch(page);
		}, this.question.again);
	}
}

/** As useQuestion(), but loads only the visible rows of a table. */
export function useRowPages(make: () => Question | null): {
	answer: ReadonlySignal<RowsAnswer>;
	show: (first: number, last: number) => void;
} {
	const pages = useRef<RowPages>();
	pages.current ??= new RowPages();
	const latest = useSignal(make);
	useEffect(() => {
		latest.value = make;
	});
	const tried = useRef(attempts.peek());
	useSignalEffect(() => {
		const retry = attempts.value !== tried.current;
		tried.current = attempts.value;
		pages.current!.ask(latest.value(), retry);
	});
	useEffect(() => () => pages.current!.stop(), []);
	const { current } = pages;
	return { answer: current.answer, show: (first, last) => current.show(first, last) };
}

/* Owns the rows of a long table that are kept: pages around what is on the screen. A new question (another order,
 * another condition) leaves the old rows on the screen until its first page has come. */
import { signal, useSignal, useSignalEffect, type ReadonlySignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { getExact } from '../api/client';
import type { TableCell, TableColumn, TableRows } from '../api/types';
import { PAGE_ROWS, pagesToDrop, pagesWanted } from '../logic/rows/pages';
import { attempts, keyOf, type Question } from './questions';

export interface RowsAnswer {
	/** The question that rows and columns answer; null while there is none. */
	of: Question | null;
	/** The key of that question: it changes when other rows are shown. */
	key: string;
	/** Rows that match in all. */
	matched: number;
	columns: TableColumn[];
	pages: ReadonlyMap<number, TableCell[][]>;
	error: Error | null;
	/** Whether something on the screen, or another question, is waited for. */
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

/** Rows that pass by while somebody scrolls are not asked for. */
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
		// Another question is shown from its first row on.
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

	/** Rows from @first to @last (exclusive) are on the screen. */
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

	/** Asks for pages that are missing, and gives up those that are no longer wanted. */
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
		// In a run that goes on, rows may have moved to other pages: only those on the screen stay until
		// they have come again.
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

	/** A run that goes on gets new rows: the pages on the screen are asked for again. */
	private planAgain(): void {
		clearTimeout(this.again);
		if (!this.question?.again || this.underway.size) return;
		this.again = window.setTimeout(() => {
			for (const page of this.wanted()) if (!this.underway.has(page)) this.fetch(page);
		}, this.question.again);
	}
}

/** As useQuestion(), for a table of which only the rows on the screen are asked for. */
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

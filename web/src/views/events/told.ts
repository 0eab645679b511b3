/** What a part of the view tells the bar above it about its answer. */
export interface Told {
	/** Rows that match in all; null: not known yet. */
	matched: number | null;
	error: Error | null;
	loading: boolean;
	/** Names of the columns that are shown, if they can be chosen. */
	shown?: readonly string[];
}

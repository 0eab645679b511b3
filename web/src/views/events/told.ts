/** What a part of the view reports to the bar above it. */
export interface Told {
	/** Total number of matching rows; null: not known yet. */
	matched: number | null;
	error: Error | null;
	loading: boolean;
	/** Names of the visible columns, if they can be chosen. */
	shown?: readonly string[];
}

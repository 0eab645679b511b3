import type { SessionHead } from '../../api/types';

export const SORTS = { newest: 'Newest', name: 'Name', runs: 'Most runs' } as const;
export type Sort = keyof typeof SORTS;

const byName = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

export function sortSessions(list: SessionHead[], sort: Sort): SessionHead[] {
	const newer = (a: SessionHead, b: SessionHead) => b.created_at.localeCompare(a.created_at);
	const orders: Record<Sort, (a: SessionHead, b: SessionHead) => number> = {
		newest: newer,
		name: (a, b) => byName.compare(a.title, b.title) || newer(a, b),
		runs: (a, b) => b.runs - a.runs || newer(a, b),
	};
	return [...list].sort(orders[sort]);
}

import { Loading } from './states';

export function TimelineView() {
	return <Loading what="TimelineView" />;
}

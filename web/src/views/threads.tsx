import { Loading } from './states';

export function ThreadsView() {
	return <Loading what="ThreadsView" />;
}

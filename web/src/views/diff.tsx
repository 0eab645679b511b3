import { Loading } from './states';

export function DiffView() {
	return <Loading what="DiffView" />;
}

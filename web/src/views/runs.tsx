import { Loading } from './states';

export function Runs() {
	return <Loading what="Runs" />;
}

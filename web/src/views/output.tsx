import { Loading } from './states';

export function OutputView() {
	return <Loading what="OutputView" />;
}

import { Loading } from './states';

export function FunctionsView() {
	return <Loading what="FunctionsView" />;
}

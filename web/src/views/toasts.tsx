import { Loading } from './states';

export function Toasts() {
	return <Loading what="Toasts" />;
}

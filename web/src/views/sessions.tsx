import { Loading } from './states';

export function Sessions() {
	return <Loading what="Sessions" />;
}

import { Loading } from './states';

export function NewRun() {
	return <Loading what="NewRun" />;
}

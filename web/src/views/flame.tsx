import { Loading } from './states';

export function FlameView() {
	return <Loading what="FlameView" />;
}

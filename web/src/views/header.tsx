import { Loading } from './states';

export function Header() {
	return <Loading what="Header" />;
}

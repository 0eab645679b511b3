import { Loading } from './states';

export function DetailsView() {
	return <Loading what="DetailsView" />;
}

import { Loading } from './states';

export function HistogramView() {
	return <Loading what="HistogramView" />;
}

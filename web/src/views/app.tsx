/* The whole page: a bar on top, and below it the sessions or the workbench of one. */
import { address } from '../state/address';
import { Header } from './header';
import { Sessions } from './sessions';
import { Toasts } from './toasts';
import { Workbench } from './workbench';

export function App() {
	const { session, run } = address.value;
	return (
		<>
			<Header />
			{session || run ? <Workbench /> : <Sessions />}
			<Toasts />
		</>
	);
}

/* One session: what to run, what came out, what was run. On narrow screens the three are tabs. */
import { address } from '../state/address';
import { NewRun } from './new_run';
import { Result } from './result';
import { Runs } from './runs';
import './workbench.css';

export function Workbench() {
	return (
		<main class={address.value.full ? 'workbench full' : 'workbench'}>
			<NewRun />
			<Result />
			<Runs />
		</main>
	);
}

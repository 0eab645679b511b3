/* The screen of a first visit: what tacho is, and how to begin. */
import { mayRun, me } from '../../state/server';
import { newSession } from '../../state/sessions';
import { chooseFile } from '../../state/uploads';
import { DemoButton } from './demo_button';
import { Gauge } from '../parts/gauge';

export function Welcome() {
	const demo = Boolean(me.value?.server.demo?.length);
	return (
		<div class="welcome">
			<Gauge />
			<h1>Why is it slow?</h1>
			<p class="lead">
				tacho runs your program and shows live which of its functions take the time. Select the slow
				part, see what caused it, and check whether your change has helped.
			</p>
			{mayRun.value ? (
				<>
					<div class="actions">
						<DemoButton class="primary large" />
						<button class={demo ? 'large' : 'primary large'} onClick={newSession}>
							Profile a program
						</button>
					</div>
					<p class="dim">
						Or bring a recording: drop a <code>perf.data</code> file anywhere, or{' '}
						<button class="link" onClick={chooseFile}>
							choose one
						</button>
					</p>
				</>
			) : (
				<p class="dim">
					There are no sessions yet. Your token may only look: ask who runs this server to start
					one.
				</p>
			)}
		</div>
	);
}

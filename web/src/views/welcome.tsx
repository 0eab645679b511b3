/* A first visit: what tacho is, and how to begin. */
import { mayRun } from '../state/server';
import { chooseFile } from '../state/uploads';
import { newSession } from './header';
import { Icon } from './icons';
import { Gauge } from './gauge';

export function Welcome() {
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
						<button class="primary large" onClick={newSession}>
							<Icon name="play" size={14} /> Profile a program
						</button>
					</div>
					<p class="dim">
						Or bring a recording: drop a <code>perf.data</code> file anywhere, or{' '}
						<button class="link" onClick={chooseFile}>
							choose one
						</button>
						.
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

/* The same as a command line, to copy. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get } from '../api/client';
import { tachoLine } from '../logic/command_line';
import { copyText } from '../state/copy';
import { draft } from '../state/draft';
import { session } from '../state/runs';

/** Id → whether the title alone leads to another, newer session. */
const ambiguous = signal<ReadonlyMap<string, boolean>>(new Map());

/** `tacho run --session TITLE` takes the newest of that title: is it ours? */
async function checkTitle(uuid: string, title: string): Promise<void> {
	const { sessions } = await get<{ sessions: { uuid: string; title: string }[] }>('sessions', {
		search: title,
	});
	const first = sessions.find((s) => s.title === title);
	ambiguous.value = new Map(ambiguous.peek()).set(uuid, first?.uuid !== uuid);
}

function sessionWord(): string | null {
	const s = session.value;
	if (!s) return null;
	return ambiguous.value.get(s.uuid) ? s.uuid : s.title;
}

export function CommandLine() {
	const { uuid, title } = session.value ?? {};
	useEffect(() => {
		if (uuid && title) checkTitle(uuid, title).catch(() => {});
	}, [uuid, title]);
	const line = tachoLine(draft.value, { server: location.origin, session: sessionWord() });
	const { target, cwd, live } = draft.value;
	return (
		<details class="command-line">
			<summary>
				Command line<span class="dim small">the same in a terminal</span>
			</summary>
			<div class="folded">
				<pre tabIndex={0} aria-label="The same as a command line">
					{line}
				</pre>
				<button type="button" onClick={() => void copyText(line, 'The command line was copied.')}>
					Copy
				</button>
				{target === 'command' && !cwd.trim() && (
					<p class="small dim">It runs in the directory that you are in.</p>
				)}
				{!live && <p class="small dim">On the command line a run can always be watched.</p>}
			</div>
		</details>
	);
}

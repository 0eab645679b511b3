/* The form as a command line, to copy. */
import { tachoLine } from '../../logic/run/command_line';
import { copyText } from '../../state/copy';
import { draft } from '../../state/draft';
import { useSessionWord } from '../../state/session_word';

export function CommandLine() {
	const line = tachoLine(draft.value, { server: location.origin, session: useSessionWord() });
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

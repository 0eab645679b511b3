/* Name, note and tags of a run, edited where they stand. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Run } from '../api/types';
import { runName } from '../logic/run_words';
import { changesOf } from '../logic/tags';
import { changeWords } from '../state/runs';

export function RunEdit(props: { run: Run; close: () => void }) {
	const { run } = props;
	const [began] = useState({ run, name: runName(run) });
	const [name, setName] = useState(began.name);
	const [note, setNote] = useState(run.note ?? '');
	const [tags, setTags] = useState(run.tags.join(', '));
	const first = useRef<HTMLInputElement>(null);
	useLayoutEffect(() => first.current?.focus(), []);
	const [problem, setProblem] = useState<string | null>(null);
	const save = async (e: Event) => {
		e.preventDefault();
		try {
			// A name that was not touched is that of the command, and stays so.
			const typed = {
				name: name === began.name ? (began.run.description ?? '') : name,
				note,
				tags,
			};
			const changes = changesOf(began.run, typed);
			if (Object.keys(changes).length) await changeWords(run.uuid, changes);
			props.close();
		} catch (error) {
			setProblem((error as Error).message);
		}
	};
	return (
		<form
			class="run-edit"
			aria-label={`Name, note and tags of ${runName(run)}`}
			onSubmit={(e) => void save(e)}
			onKeyDown={(e) => {
				if (e.key === 'Escape') props.close();
				else if (e.key !== 'Enter' || !(e.ctrlKey || e.metaKey)) return;
				else void save(e);
				e.preventDefault();
				e.stopPropagation();
			}}
		>
			<label>
				Name
				<input
					ref={first}
					maxLength={1000}
					value={name}
					onInput={(e) => setName(e.currentTarget.value)}
				/>
			</label>
			<label>
				Note
				<textarea rows={2} value={note} onInput={(e) => setNote(e.currentTarget.value)} />
			</label>
			<label>
				Tags
				<input
					placeholder="baseline, old disk"
					value={tags}
					onInput={(e) => setTags(e.currentTarget.value)}
				/>
			</label>
			{problem && (
				<p class="bad small" role="alert">
					{problem}
				</p>
			)}
			<div class="actions">
				<button type="submit" class="primary">
					Save
				</button>
				<button type="button" onClick={props.close}>
					Cancel
				</button>
			</div>
		</form>
	);
}

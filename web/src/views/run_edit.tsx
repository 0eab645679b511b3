/* Name, note and tags of a run, edited where they stand. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Run } from '../api/types';
import { parseTags } from '../logic/run_list';
import { runName } from '../logic/run_words';
import { changeWords } from '../state/runs';

export function RunEdit(props: { run: Run; close: () => void }) {
	const { run } = props;
	const [name, setName] = useState(runName(run));
	const [note, setNote] = useState(run.note ?? '');
	const [tags, setTags] = useState(run.tags.join(', '));
	const first = useRef<HTMLInputElement>(null);
	useLayoutEffect(() => first.current?.focus(), []);
	const [problem, setProblem] = useState<string | null>(null);
	const save = async (e: Event) => {
		e.preventDefault();
		try {
			await changeWords(run.uuid, {
				description: name.trim() || null,
				note: note.trim() || null,
				tags: parseTags(tags),
			});
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

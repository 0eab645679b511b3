/* Name, note and tags of a run, to be changed; and the link to it. */
import { useState } from 'preact/hooks';
import type { Run } from '../api/types';
import { formatAddress, HOME } from '../logic/address';
import { parseTags } from '../logic/tags';
import { copyText } from '../state/copy';
import { changeWords } from '../state/runs';
import { mayRun } from '../state/server';
import { tell, toast } from '../state/toasts';

const typed = (set: (text: string) => void) => (e: Event) =>
	set((e.currentTarget as HTMLInputElement).value);

export function RunWords(props: { run: Run }) {
	const { run } = props;
	const [name, setName] = useState(run.description ?? '');
	const [note, setNote] = useState(run.note ?? '');
	const [tags, setTags] = useState(run.tags.join(', '));
	const [busy, setBusy] = useState(false);
	const words = {
		description: name.trim() || null,
		note: note.trim() || null,
		tags: parseTags(tags),
	};
	const changed =
		words.description !== run.description ||
		words.note !== run.note ||
		words.tags.join('\n') !== run.tags.join('\n');
	const save = async (e: Event) => {
		e.preventDefault();
		setBusy(true);
		try {
			await changeWords(run.uuid, words);
			toast('Saved.');
		} catch (error) {
			tell(error);
		}
		setBusy(false);
	};
	return (
		<form class="run-words" onSubmit={save}>
			<label>
				<span class="small">Name</span>
				<input value={name} maxLength={1000} disabled={!mayRun.value} onInput={typed(setName)} />
			</label>
			<label>
				<span class="small">Note</span>
				<textarea
					rows={3}
					value={note}
					disabled={!mayRun.value}
					placeholder="What did you try, what did you see?"
					onInput={typed(setNote)}
				/>
			</label>
			<label>
				<span class="small">Tags, with commas between them</span>
				<input
					value={tags}
					disabled={!mayRun.value}
					placeholder="baseline, new allocator"
					onInput={typed(setTags)}
				/>
			</label>
			<div class="run-words-acts">
				<button type="submit" class="primary" disabled={!changed || busy || !mayRun.value}>
					Save
				</button>
				<Permalink run={run} />
			</div>
		</form>
	);
}

function Permalink(props: { run: Run }) {
	const { session, uuid } = props.run;
	const address = location.origin + '/' + formatAddress({ ...HOME, session, run: uuid });
	return (
		<button
			type="button"
			title={address}
			onClick={() => copyText(address, 'The link to this run is copied.')}
		>
			Copy link to this run
		</button>
	);
}

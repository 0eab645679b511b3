/* Name, note and tags of a run, to be changed; and the link to it. */
import { useState } from 'preact/hooks';
import type { Run } from '../api/types';
import { formatAddress, HOME } from '../logic/address';
import { changesOf } from '../logic/tags';
import { copyText } from '../state/copy';
import { changeWords } from '../state/runs';
import { mayRun } from '../state/server';
import { tell, toast } from '../state/toasts';

const typed = (set: (text: string) => void) => (e: Event) =>
	set((e.currentTarget as HTMLInputElement).value);

export function RunWords(props: { run: Run }) {
	const { run } = props;
	// What was typed here; the rest is as the run has it, and others may change it meanwhile.
	const [mine, setMine] = useState<{ name?: string; note?: string; tags?: string }>({});
	const [busy, setBusy] = useState(false);
	const name = mine.name ?? run.description ?? '';
	const note = mine.note ?? run.note ?? '';
	const tags = mine.tags ?? run.tags.join(', ');
	const words = changesOf(run, { name, note, tags });
	const save = async (e: Event) => {
		e.preventDefault();
		setBusy(true);
		try {
			await changeWords(run.uuid, words);
			setMine({});
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
				<input
					value={name}
					maxLength={1000}
					disabled={!mayRun.value}
					onInput={typed((text) => setMine({ ...mine, name: text }))}
				/>
			</label>
			<label>
				<span class="small">Note</span>
				<textarea
					rows={3}
					value={note}
					disabled={!mayRun.value}
					placeholder="What did you try, what did you see?"
					onInput={typed((text) => setMine({ ...mine, note: text }))}
				/>
			</label>
			<label>
				<span class="small">Tags, with commas between them</span>
				<input
					value={tags}
					disabled={!mayRun.value}
					placeholder="baseline, new allocator"
					onInput={typed((text) => setMine({ ...mine, tags: text }))}
				/>
			</label>
			<div class="run-words-acts">
				<button
					type="submit"
					class="primary"
					disabled={!Object.keys(words).length || busy || !mayRun.value}
				>
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

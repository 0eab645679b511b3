/* Edits name, note and tags of a run: in the list, where it closes again, and in the details. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Run } from '../../api/types';
import { ownerWords } from '../../logic/run/owner';
import { runName } from '../../logic/run/run_words';
import { changesOf } from '../../logic/run/tags';
import { changeWords } from '../../state/runs';
import { mayChange, mayRun } from '../../state/server';
import { toast } from '../../state/toasts';
import './run_edit.css';

/** The typed texts, and saving them. */
function useWords(run: Run, close?: () => void) {
	// Fields that the user has not typed into follow changes by others.
	const [typed, setTyped] = useState<{ name?: string; note?: string; tags?: string }>({});
	const [problem, setProblem] = useState<string | null>(null);
	const name = typed.name ?? run.description ?? '';
	const note = typed.note ?? run.note ?? '';
	const tags = typed.tags ?? run.tags.join(', ');
	const setName = (text: string) => setTyped({ ...typed, name: text });
	const setNote = (text: string) => setTyped({ ...typed, note: text });
	const setTags = (text: string) => setTyped({ ...typed, tags: text });
	const changes = changesOf(run, { name, note, tags });
	const changed = Object.keys(changes).length > 0;
	const save = async () => {
		try {
			await changeWords(run.uuid, changes);
			setTyped({});
			setProblem(null);
			if (close) close();
			else toast('Saved.');
		} catch (error) {
			setProblem((error as Error).message);
		}
	};
	return { name, setName, note, setNote, tags, setTags, problem, changed, save };
}

function Fields(props: { words: ReturnType<typeof useWords>; run: Run; focus: boolean }) {
	const { words } = props;
	const disabled = !mayChange(props.run);
	const first = useRef<HTMLInputElement>(null);
	useLayoutEffect(() => {
		if (props.focus) first.current?.focus();
	}, []);
	return (
		<>
			<label>
				Name
				<input
					ref={first}
					maxLength={1000}
					disabled={disabled}
					placeholder={runName(props.run)}
					value={words.name}
					onInput={(e) => words.setName(e.currentTarget.value)}
				/>
			</label>
			<label>
				Note
				<textarea
					rows={2}
					disabled={disabled}
					placeholder="What did you try, what did you see?"
					value={words.note}
					onInput={(e) => words.setNote(e.currentTarget.value)}
				/>
			</label>
			<label>
				Tags, with commas between them
				<input
					disabled={disabled}
					placeholder="baseline, new allocator"
					value={words.tags}
					onInput={(e) => words.setTags(e.currentTarget.value)}
				/>
			</label>
		</>
	);
}

/** With @close the form takes the focus; children are further buttons. */
export function RunEdit(props: { run: Run; close?: () => void; children?: ComponentChildren }) {
	const { run, close } = props;
	const words = useWords(run, close);
	const onKeyDown = (e: KeyboardEvent) => {
		if (e.key === 'Escape' && close) close();
		else if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) void words.save();
		else return;
		e.preventDefault();
		e.stopPropagation();
	};
	return (
		<form
			class="run-edit"
			aria-label={`Name, note and tags of ${runName(run)}`}
			onSubmit={(e) => {
				e.preventDefault();
				void words.save();
			}}
			onKeyDown={onKeyDown}
		>
			<Fields words={words} run={run} focus={Boolean(close)} />
			{mayRun.value && !mayChange(run) && <p class="dim small">{ownerWords(run)}</p>}
			{words.problem && (
				<p class="bad small" role="alert">
					{words.problem}
				</p>
			)}
			<div class="actions">
				<button type="submit" class="primary" disabled={!words.changed || !mayChange(run)}>
					Save
				</button>
				{close && (
					<button type="button" onClick={close}>
						Cancel
					</button>
				)}
				{props.children}
			</div>
		</form>
	);
}

/* Search everywhere: commands, runs, sessions. The field keeps the focus, arrows choose. */
import { quoted } from '../../logic/format';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Choice } from '../../logic/palette';
import { dialog, takeTyped } from '../../state/dialogs';
import { found, look, searching } from '../../state/palette';
import { Icon } from '../parts/icons';
import './palette.css';

function Options(props: { at: number; choose: (c: Choice) => void; point: (i: number) => void }) {
	const list = found.value;
	return (
		<ul id="palette-list" role="listbox" aria-label="Found">
			{list.map((c, i) => (
				<>
					{c.group !== list[i - 1]?.group && (
						<li key={c.group} class="group small" role="presentation">
							{c.group}
						</li>
					)}
					<li
						key={c.id}
						id={'choice-' + i}
						role="option"
						aria-selected={i === props.at}
						onPointerMove={() => i !== props.at && props.point(i)}
						onClick={() => props.choose(c)}
					>
						<span class="cut">{c.text}</span>
						{c.more && <span class="small more">{c.more}</span>}
					</li>
				</>
			))}
		</ul>
	);
}

function useDialog(query: string) {
	const box = useRef<HTMLDialogElement>(null);
	useEffect(() => {
		box.current!.showModal();
		look(query);
	}, []);
	return box;
}

function Nothing(props: { query: string }) {
	return (
		<p class="dim nothing" role="status">
			{searching.value ? 'Searching …' : `Nothing is called ${quoted(props.query)}.`}
		</p>
	);
}

export function Palette() {
	const [query, setQuery] = useState(takeTyped);
	const box = useDialog(query);
	const [at, setAt] = useState(0);
	const close = () => (dialog.value = null);
	const choose = (c: Choice | undefined) => {
		if (!c) return;
		close();
		c.run();
	};
	const count = found.value.length;
	const move = (to: number) => {
		const next = (to + count) % Math.max(1, count);
		setAt(next);
		document.getElementById('choice-' + next)?.scrollIntoView({ block: 'nearest' });
	};
	const keys = (e: KeyboardEvent) => {
		if (e.key === 'ArrowDown') move(at + 1);
		else if (e.key === 'ArrowUp') move(at - 1);
		else if (e.key === 'Enter') choose(found.value[at]);
		else return;
		e.preventDefault();
	};
	return (
		<dialog
			ref={box}
			class="palette"
			aria-label="Search"
			onClose={close}
			onClick={(e) => e.target === box.current && close()}
		>
			<div class="palette-field">
				<Icon name="search" />
				<input
					role="combobox"
					aria-expanded={count > 0}
					aria-controls="palette-list"
					aria-activedescendant={count ? 'choice-' + at : undefined}
					aria-autocomplete="list"
					aria-label="Search runs, sessions and commands"
					placeholder="Search runs, sessions and commands"
					autocomplete="off"
					spellcheck={false}
					value={query}
					onInput={(e) => {
						setQuery(e.currentTarget.value);
						setAt(0);
						look(e.currentTarget.value);
					}}
					onKeyDown={keys}
				/>
				<kbd>Esc</kbd>
			</div>
			<Options at={Math.min(at, count - 1)} choose={choose} point={setAt} />
			{!count && <Nothing query={query} />}
		</dialog>
	);
}

/* What is measured: a command, processes that run already, or everything. */
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { needsShell } from '../logic/words';
import { change, commands, draft } from '../state/draft';
import { runs } from '../state/runs';
import { CheckField, Field, PresetField, TextField, type ControlProps } from './form_parts';
import { Floating } from './floating';
import { Processes } from './new_run_processes';

const SUGGESTIONS_MAX = 8;
const DURATIONS = [
	{ value: '5', text: '5 s' },
	{ value: '10', text: '10 s' },
	{ value: '60', text: '1 min' },
];

/** Commands of before that have what is typed in them, newest first. */
function suggestions(typed: string): string[] {
	const of = runs.value.map((r) => (typeof r.workload === 'string' ? r.workload : ''));
	const all = [...new Set([...commands.value, ...of])].filter(Boolean);
	const words = typed.trim().toLowerCase();
	return all
		.filter((c) => c !== typed && c.toLowerCase().includes(words))
		.slice(0, SUGGESTIONS_MAX);
}

/** As high as what is in it. */
function useGrowing(text: string) {
	const ref = useRef<HTMLTextAreaElement>(null);
	useLayoutEffect(() => {
		const e = ref.current;
		if (!e) return;
		e.style.height = 'auto';
		e.style.height = `${Math.min(e.scrollHeight + 2, 240)}px`;
	}, [text]);
	return ref;
}

function CommandInput(props: { control: ControlProps }) {
	const { command } = draft.value;
	const ref = useGrowing(command);
	const id = useId();
	const [open, setOpen] = useState(false);
	const [active, setActive] = useState(-1);
	const list = open ? suggestions(command) : [];
	const take = (text: string) => {
		change({ command: text });
		setOpen(false);
		ref.current?.focus();
	};
	const onKeyDown = (e: KeyboardEvent) => {
		if (e.ctrlKey || e.metaKey) return;
		const last = list.length - 1;
		if (e.key === 'Escape' && open) {
			e.stopPropagation();
			setOpen(false);
		} else if (e.key === 'ArrowDown' && !command.includes('\n')) {
			e.preventDefault();
			setOpen(true);
			setActive(open ? Math.min(active + 1, last) : -1);
		} else if (e.key === 'ArrowUp' && open && active >= 0) {
			e.preventDefault();
			setActive(active - 1);
		} else if (e.key === 'Enter' && open && list[active] !== undefined) {
			e.preventDefault();
			take(list[active]);
		} else if (e.key === 'Tab') setOpen(false);
	};
	const shown = open && list.length > 0;
	return (
		<>
			<textarea
				{...props.control}
				ref={ref}
				class="mono command"
				rows={1}
				aria-autocomplete="list"
				aria-haspopup="listbox"
				aria-controls={shown ? id : undefined}
				aria-activedescendant={shown && active >= 0 ? `${id}-${active}` : undefined}
				placeholder="./my-program --option file"
				autocomplete="off"
				autocapitalize="off"
				spellcheck={false}
				value={command}
				onInput={(e) => {
					change({ command: e.currentTarget.value });
					setActive(-1);
					setOpen(true);
				}}
				onClick={() => !command && setOpen(true)}
				onKeyDown={onKeyDown}
			/>
			{shown && (
				<Floating anchor={ref} width={420} height={280} onLeave={() => setOpen(false)}>
					<div
						id={id}
						class="suggestions"
						role="listbox"
						aria-label="Earlier commands"
						onMouseDown={(e) => e.preventDefault()}
					>
						{list.map((text, i) => (
							<div
								key={text}
								id={`${id}-${i}`}
								role="option"
								aria-selected={i === active}
								class="mono cut"
								onClick={() => take(text)}
							>
								{text}
							</div>
						))}
					</div>
				</Floating>
			)}
		</>
	);
}

function Command() {
	const { command, shell } = draft.value;
	const special = shell ? null : needsShell(command);
	return (
		<>
			<Field name="command" label="Command">
				{(control) => <CommandInput control={control} />}
			</Field>
			{special && (
				<p class="note small" role="status">
					<span class="mono">{special === '=' ? 'NAME=value' : special}</span> means something only
					in a shell.{' '}
					<button type="button" class="plain link" onClick={() => change({ shell: true })}>
						Run in a shell
					</button>
				</p>
			)}
			<CheckField
				name="shell"
				label="Run in a shell"
				hint={
					shell || special
						? 'The text is given to sh -c, so pipes, > and * work; the shell is measured, too.'
						: undefined
				}
			/>
		</>
	);
}

export function TargetFields() {
	const { target } = draft.value;
	if (target === 'command') return <Command />;
	return (
		<>
			{target === 'attach' ? (
				<Processes />
			) : (
				<p class="small dim">
					Everything that runs on this machine, all programs and the kernel. Needs the rights for
					it.
				</p>
			)}
			<PresetField
				name="duration"
				label="For how long"
				unit="s"
				presets={DURATIONS}
				hint={Number(draft.value.duration) ? undefined : 'Until you stop it.'}
			/>
			<TextField name="cpus" label="Only on these CPUs" placeholder="all, or 0-3,8" mono />
		</>
	);
}

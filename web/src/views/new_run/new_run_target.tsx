/* What is measured: a command, processes that run already, or everything. */
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { needsShell } from '../../logic/words';
import { change, commands, draft } from '../../state/draft';
import { runs } from '../../state/runs';
import { tell } from '../../state/toasts';
import { CheckField, Field, PresetField, TextField, type ControlProps } from '../parts/form_parts';
import { Floating } from '../parts/floating';
import { Loading } from '../parts/states';

const SUGGESTIONS_MAX = 8;
const DURATIONS = [
	{ value: '5', text: '5 s' },
	{ value: '10', text: '10 s' },
	{ value: '60', text: '1 min' },
];

/** Earlier commands that contain the typed text, newest first. */
function suggestions(typed: string): string[] {
	const of = runs.value.map((r) => (typeof r.workload === 'string' ? r.workload : ''));
	const all = [...new Set([...commands.value, ...of])].filter(Boolean);
	const words = typed.trim().toLowerCase();
	return all
		.filter((c) => c !== typed && c.toLowerCase().includes(words))
		.slice(0, SUGGESTIONS_MAX);
}

/** Makes the field as high as its text. */
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

function Suggestions(props: {
	id: string;
	list: string[];
	active: number;
	take: (text: string) => void;
}) {
	return (
		<div
			id={props.id}
			class="suggestions"
			role="listbox"
			aria-label="Earlier commands"
			onMouseDown={(e) => e.preventDefault()}
		>
			{props.list.map((text, i) => (
				<div
					key={text}
					id={`${props.id}-${i}`}
					role="option"
					aria-selected={i === props.active}
					class="mono cut"
					onClick={() => props.take(text)}
				>
					{text}
				</div>
			))}
		</div>
	);
}

interface SuggestionKeys {
	open: boolean;
	setOpen: (open: boolean) => void;
	active: number;
	setActive: (active: number) => void;
	list: string[];
	take: (text: string) => void;
}

/** Arrows move in the list, Enter takes the marked entry, Escape and Tab close the list. */
function suggestionKey(e: KeyboardEvent, s: SuggestionKeys, manyLines: boolean): void {
	if (e.ctrlKey || e.metaKey) return;
	if (e.key === 'Escape' && s.open) {
		e.stopPropagation();
		s.setOpen(false);
	} else if (e.key === 'ArrowDown' && !manyLines) {
		e.preventDefault();
		s.setOpen(true);
		s.setActive(s.open ? Math.min(s.active + 1, s.list.length - 1) : -1);
	} else if (e.key === 'ArrowUp' && s.open && s.active >= 0) {
		e.preventDefault();
		s.setActive(s.active - 1);
	} else if (e.key === 'Enter' && s.open && s.list[s.active] !== undefined) {
		e.preventDefault();
		s.take(s.list[s.active]!);
	} else if (e.key === 'Tab') s.setOpen(false);
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
	const onKeyDown = (e: KeyboardEvent) =>
		suggestionKey(e, { open, setOpen, active, setActive, list, take }, command.includes('\n'));
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
					<Suggestions {...{ id, list, active, take }} />
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

/** The list of processes is loaded when it is first needed. */
function Attach() {
	const [List, setList] = useState<(() => preact.JSX.Element) | null>(null);
	useEffect(() => {
		import('./new_run_processes').then((m) => setList(() => m.Processes), tell);
	}, []);
	return List ? <List /> : <Loading what="Looking what runs …" />;
}

export function TargetFields() {
	const { target } = draft.value;
	if (target === 'command') return <Command />;
	return (
		<>
			{target === 'attach' ? (
				<Attach />
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
			{target === 'system' && (
				<TextField name="cpus" label="Only on these CPUs" placeholder="all, or 0-3,8" mono />
			)}
		</>
	);
}

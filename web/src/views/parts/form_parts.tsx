/* Parts of forms: a labelled field with hint and mistake, a choice of a few, preset values. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { Field as FieldName } from '../../logic/run/mistakes';
import { change, draft, mistakes } from '../../state/draft';
import { Marked } from './marked';
import './form_parts.css';

/** Attributes that the control in a field must have. */
export interface ControlProps {
	id: string;
	'aria-invalid': boolean | undefined;
	'aria-describedby': string | undefined;
}

export function Field(props: {
	name: FieldName;
	label: string;
	/** Always visible, below the control. */
	hint?: ComponentChildren;
	class?: string;
	/** The field has several controls, each with its own label. */
	group?: boolean;
	children: (control: ControlProps) => ComponentChildren;
}) {
	const id = useId();
	const mistake = mistakes.value[props.name];
	const described = [props.hint ? id + 'h' : '', mistake ? id + 'm' : ''].filter(Boolean).join(' ');
	return (
		<div
			class={'field ' + (props.class ?? '')}
			role={props.group ? 'group' : undefined}
			aria-labelledby={props.group ? id + 'l' : undefined}
		>
			{props.group ? (
				<span id={id + 'l'} class="legend">
					{props.label}
				</span>
			) : (
				<label for={id}>{props.label}</label>
			)}
			{props.children({
				id,
				'aria-invalid': mistake ? true : undefined,
				'aria-describedby': described || undefined,
			})}
			{props.hint && (
				<p id={id + 'h'} class="hint">
					{props.hint}
				</p>
			)}
			{mistake && (
				<div id={id + 'm'} class="mistake" role="alert">
					<Marked message={mistake} />
				</div>
			)}
		</div>
	);
}

type TextField = 'cwd' | 'user' | 'affinity' | 'timeout' | 'repeat' | 'cpus' | 'duration';

/** A field of the draft that is one line of text. */
export function TextField(props: {
	name: TextField | 'description' | 'filter' | 'interval' | 'frequency' | 'period';
	label: string;
	hint?: ComponentChildren;
	placeholder?: string;
	number?: boolean;
	mono?: boolean;
}) {
	const { name } = props;
	return (
		<Field name={name} label={props.label} hint={props.hint}>
			{(control) => (
				<input
					{...control}
					class={props.mono ? 'mono' : undefined}
					inputMode={props.number ? 'decimal' : undefined}
					autocomplete="off"
					spellcheck={false}
					placeholder={props.placeholder}
					value={draft.value[name]}
					onInput={(e) => change({ [name]: e.currentTarget.value })}
				/>
			)}
		</Field>
	);
}

export interface Choice<T extends string> {
	value: T;
	text: string;
	/** What it means, on hover. */
	title?: string;
}

/** A choice of a few. Arrows move the choice, as in any group of radio buttons. */
export function Segments<T extends string>(props: {
	label: string;
	value: T;
	choices: readonly Choice<T>[];
	onChange: (value: T) => void;
	wide?: boolean;
}) {
	const { choices, value } = props;
	const onKeyDown = (e: KeyboardEvent) => {
		const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
		if (!step) return;
		e.preventDefault();
		const at = choices.findIndex((c) => c.value === value);
		const next = (at + step + choices.length) % choices.length;
		props.onChange(choices[next]!.value);
		((e.currentTarget as HTMLElement).children[next] as HTMLElement).focus();
	};
	return (
		<div
			class={props.wide ? 'segments wide' : 'segments'}
			role="radiogroup"
			aria-label={props.label}
			onKeyDown={onKeyDown}
		>
			{choices.map((c) => (
				<button
					key={c.value}
					type="button"
					role="radio"
					aria-checked={c.value === value}
					tabIndex={c.value === value ? 0 : -1}
					title={c.title}
					onClick={() => props.onChange(c.value)}
				>
					{c.text}
				</button>
			))}
		</div>
	);
}

/** A number, with buttons for its most common values. */
export function PresetField(props: {
	name: 'interval' | 'frequency' | 'duration';
	label: string;
	unit: string;
	hint?: ComponentChildren;
	presets: readonly { value: string; text: string }[];
}) {
	const { name } = props;
	const now = draft.value[name];
	return (
		<Field name={name} label={props.label} hint={props.hint}>
			{(control) => (
				<div class="presets">
					{props.presets.map((p) => (
						<button
							key={p.value}
							type="button"
							aria-pressed={Number(now) === Number(p.value) && now.trim() !== ''}
							aria-label={`${props.label}: ${p.text}`}
							onClick={() => change({ [name]: p.value })}
						>
							{p.text}
						</button>
					))}
					<span class="with-unit">
						<input
							{...control}
							class="number"
							inputMode="decimal"
							autocomplete="off"
							size={6}
							value={now}
							onInput={(e) => change({ [name]: e.currentTarget.value })}
						/>
						<span class="dim">{props.unit}</span>
					</span>
				</div>
			)}
		</Field>
	);
}

export function CheckField(props: {
	name: 'shell' | 'live' | 'keepRaw';
	label: string;
	hint?: ComponentChildren;
}) {
	const id = useId();
	return (
		<div class="field check">
			<label>
				<input
					type="checkbox"
					checked={draft.value[props.name]}
					aria-describedby={props.hint ? id : undefined}
					onChange={(e) => change({ [props.name]: e.currentTarget.checked })}
				/>
				<span>{props.label}</span>
			</label>
			{props.hint && (
				<p id={id} class="hint">
					{props.hint}
				</p>
			)}
		</div>
	);
}

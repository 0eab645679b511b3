/* The chosen events, each with a small menu for its modifiers. */
import { useRef, useState } from 'preact/hooks';
import {
	formatOne,
	modeOf,
	modifierWords,
	precisionOf,
	removeEvent,
	withMode,
	withPrecision,
	type Chosen,
	type Mode,
} from '../../logic/run/events';
import { eventInfo } from '../../state/events';
import { Floating } from '../parts/floating';
import { Icon } from '../parts/icons';
import { Segments } from '../parts/form_parts';

const MODES: { value: Mode; text: string; title: string }[] = [
	{ value: 'all', text: 'Everywhere', title: 'In the program and in the kernel' },
	{ value: 'user', text: 'Program', title: 'Only in the program itself (:u)' },
	{ value: 'kernel', text: 'Kernel', title: 'Only in the kernel (:k)' },
];

interface Props {
	events: Chosen[];
	onChange: (events: Chosen[]) => void;
}

function replaceAt(events: Chosen[], index: number, by: Chosen): Chosen[] {
	return events.map((e, i) => (i === index ? by : e));
}

/** "NAME:MASK" of an event that has variants → "NAME". */
function baseOf(name: string): string {
	return eventInfo(name) ? name : name.slice(0, Math.max(0, name.lastIndexOf(':')));
}

function Variant(props: { event: Chosen; onChange: (event: Chosen) => void }) {
	const base = baseOf(props.event.name);
	const info = eventInfo(base);
	if (!info?.masks.length) return null;
	return (
		<label class="small">
			Variant
			<select
				value={props.event.name}
				onChange={(e) => props.onChange({ ...props.event, name: e.currentTarget.value })}
			>
				<option value={base}>as it is by default</option>
				{info.masks.map((m) => (
					<option key={m.name} value={`${base}:${m.name}`}>
						{m.name}
						{m.description ? ` – ${m.description}` : ''}
					</option>
				))}
			</select>
		</label>
	);
}

function ChipMenu(props: Props & { index: number; close: () => void }) {
	const { events, index } = props;
	const event = events[index]!;
	const set = (to: Chosen) => props.onChange(replaceAt(events, index, to));
	const info = eventInfo(event.name);
	return (
		<div class="chip-menu">
			<p class="mono">{formatOne(event)}</p>
			{info?.description && <p class="small dim">{info.description}</p>}
			<Segments
				label="Where it counts"
				value={modeOf(event)}
				choices={MODES}
				onChange={(mode) => set(withMode(event, mode))}
				wide
			/>
			<Variant event={event} onChange={set} />
			<label class="check small">
				<input
					type="checkbox"
					checked={precisionOf(event) > 0}
					onChange={(e) => set(withPrecision(event, e.currentTarget.checked ? 2 : 0))}
				/>
				Exact position (:pp) – the CPU says which instruction it was, if it can
			</label>
			{index > 0 && (
				<label class="check small">
					<input
						type="checkbox"
						checked={event.joined}
						onChange={(e) => set({ ...event, joined: e.currentTarget.checked })}
					/>
					In one group with {events[index - 1]!.name}: both at exactly the same time
				</label>
			)}
			<div class="actions">
				<button
					type="button"
					class="danger"
					onClick={() => {
						props.close();
						props.onChange(removeEvent(events, index));
					}}
				>
					<Icon name="trash" /> Remove
				</button>
				<button type="button" onClick={props.close}>
					Done
				</button>
			</div>
		</div>
	);
}

function Bond() {
	return (
		<span class="bond" title="Counted at the same time as the one before">
			+
		</span>
	);
}

function Chip(props: Props & { index: number }) {
	const { events, index } = props;
	const event = events[index]!;
	const [open, setOpen] = useState(false);
	const anchor = useRef<HTMLSpanElement>(null);
	const info = eventInfo(event.name);
	const meaning = [info?.description, modifierWords(event)].filter(Boolean).join('; ');
	const close = () => {
		setOpen(false);
		anchor.current?.querySelector('button')?.focus();
	};
	return (
		<span
			ref={anchor}
			class={'chip event-chip' + (event.joined && index ? ' joined' : '')}
			onKeyDown={(e) => {
				if (e.key !== 'Escape' || !open) return;
				e.stopPropagation();
				close();
			}}
		>
			{event.joined && index > 0 && <Bond />}
			<button
				type="button"
				class="plain mono"
				aria-expanded={open}
				aria-haspopup="dialog"
				title={meaning || 'Change'}
				aria-label={`${formatOne(event)}: change`}
				onClick={() => setOpen(!open)}
			>
				{event.name}
				{event.modifiers && <b>:{event.modifiers}</b>}
			</button>
			<button
				type="button"
				class="plain remove"
				aria-label={`Remove ${event.name}`}
				title={`Remove ${event.name}`}
				onClick={() => props.onChange(removeEvent(events, index))}
			>
				<Icon name="close" size={11} />
			</button>
			{open && (
				<Floating
					anchor={anchor}
					width={290}
					height={330}
					role="dialog"
					label={`Settings of ${event.name}`}
					onLeave={() => setOpen(false)}
				>
					<ChipMenu {...props} close={close} />
				</Floating>
			)}
		</span>
	);
}

export function EventChips(props: Props & { label: string }) {
	if (!props.events.length) return null;
	return (
		<ul class="event-chips" aria-label={props.label}>
			{props.events.map((e, i) => (
				<li key={e.name + i}>
					<Chip events={props.events} onChange={props.onChange} index={i} />
				</li>
			))}
		</ul>
	);
}

/* Choosing events: a search field with a list below it, and chips for the chosen ones. */
import { useId, useRef, useState } from 'preact/hooks';
import type { EventInfo } from '../../api/types';
import { isAvailable, isForm, type EventGroup } from '../../logic/run/event_groups';
import { addEvent, parseEvents, removeEvent, type Chosen } from '../../logic/run/events';
import { rowOfKey } from '../../logic/tables/virtual';
import { useEventSearch, type EventSearch } from '../../state/events';
import { px } from '../../state/scale';
import { EventChips } from './event_chips';
import { Floating } from '../parts/floating';
import { Field } from '../parts/form_parts';
import { lazy } from '../parts/lazy';
import './event_picker.css';

const LIST_HEIGHT = 430;
export const ROW_HEIGHT = 46;

export interface Picker {
	text: string;
	setText: (text: string) => void;
	open: boolean;
	setOpen: (open: boolean) => void;
	active: number;
	setActive: (index: number) => void;
	found: EventSearch;
	group: EventGroup | null;
	setGroup: (group: EventGroup | null) => void;
}

function usePicker(): Picker {
	const [text, setText] = useState('');
	const [open, setOpen] = useState(false);
	const [active, setActive] = useState(-1);
	const [group, setGroup] = useState<EventGroup | null>(null);
	const found = useEventSearch(text, group, open);
	const turn = (to: boolean) => {
		setOpen(to);
		// Closing ends the search.
		if (!to) setText('');
		if (!to) setActive(-1);
	};
	return { text, setText, open, setOpen: turn, active, setActive, found, group, setGroup };
}

/** Adds the typed text as it is: for events that no list has, such as codes and patterns. */
function addTyped(events: Chosen[], text: string): Chosen[] {
	const typed = parseEvents([text]);
	return [...events, ...typed.filter((t) => !events.some((e) => e.name === t.name))];
}

function toggle(events: Chosen[], name: string): Chosen[] {
	const at = events.findIndex((e) => e.name === name);
	return at < 0 ? addEvent(events, name) : removeEvent(events, at);
}

function onKey(
	e: KeyboardEvent,
	p: Picker,
	pick: (e: EventInfo) => void,
	props: PickerProps,
): void {
	const input = e.currentTarget as HTMLInputElement;
	if (e.ctrlKey || e.metaKey || e.altKey) {
		// Ctrl-Enter starts the run: close the list, so that the run can be seen.
		if (e.key === 'Enter') p.setOpen(false);
		return;
	}
	if (e.key === 'Escape' && p.open) {
		e.stopPropagation();
		p.setOpen(false);
	} else if (e.key === 'Backspace' && !input.value && props.events.length) {
		props.onChange(removeEvent(props.events, props.events.length - 1));
	} else if (e.key === 'Enter') {
		e.preventDefault();
		const event = p.open ? p.found.events[p.active] : undefined;
		if (event) pick(event);
		else if (input.value.trim()) {
			props.onChange(addTyped(props.events, input.value));
			p.setText('');
		} else p.setOpen(!p.open);
	} else if (e.key !== 'Home' && e.key !== 'End') {
		const rows = { count: p.found.events.length, height: px(ROW_HEIGHT) };
		const to = rowOfKey(e.key, p.active, rows, { top: 0, height: px(LIST_HEIGHT) });
		if (to === null && !(e.key === 'ArrowDown' && !p.open)) return;
		e.preventDefault();
		if (p.open && to !== null) p.setActive(to);
		p.setOpen(true);
	}
}

export interface PickerProps {
	name: 'events' | 'samples';
	label: string;
	hint?: string;
	events: Chosen[];
	onChange: (events: Chosen[]) => void;
}

const Popup = lazy('Searching …', () => import('./event_found').then((m) => m.Found));

export function EventPicker(props: PickerProps) {
	const p = usePicker();
	const listId = useId();
	const anchor = useRef<HTMLDivElement>(null);
	const input = useRef<HTMLInputElement>(null);
	const pick = (event: EventInfo) => {
		if (!isAvailable(event)) return;
		if (!isForm(event)) props.onChange(toggle(props.events, event.name));
		else p.setText(event.name);
	};
	return (
		<Field name={props.name} label={props.label} hint={props.hint} class="event-picker">
			{(control) => (
				<div ref={anchor}>
					<EventChips
						label={`Chosen: ${props.label}`}
						events={props.events}
						onChange={(events) => {
							props.onChange(events);
							if (events.length < props.events.length) input.current?.focus();
						}}
					/>
					<input
						{...control}
						ref={input}
						role="combobox"
						aria-autocomplete="list"
						aria-expanded={p.open}
						aria-controls={p.open ? listId : undefined}
						aria-activedescendant={p.open && p.active >= 0 ? `${listId}-${p.active}` : undefined}
						placeholder="Search events …"
						autocomplete="off"
						spellcheck={false}
						value={p.text}
						onInput={(e) => {
							p.setText(e.currentTarget.value);
							p.setActive(-1);
							p.setOpen(true);
						}}
						onClick={() => p.setOpen(true)}
						onKeyDown={(e) => onKey(e, p, pick, props)}
					/>
					{p.open && (
						<Floating
							anchor={anchor}
							width={560}
							height={LIST_HEIGHT}
							class="event-popup"
							onLeave={() => p.setOpen(false)}
						>
							<Popup {...props} p={p} id={listId} pick={pick} />
						</Floating>
					)}
				</div>
			)}
		</Field>
	);
}

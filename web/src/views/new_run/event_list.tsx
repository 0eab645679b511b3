/* The list below the search for events. The focus stays in the search field; the list draws only
 * the visible rows and marks the active one. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { EventInfo } from '../../api/types';
import {
	aboutEvent,
	GROUP_NAMES,
	isAvailable,
	markWords,
	type EventGroup,
} from '../../logic/run/event_groups';
import { rowsOnScreen, scrollToShow } from '../../logic/tables/virtual';
import type { EventSearch } from '../../state/events';
import { px } from '../../state/scale';
import { ROW_HEIGHT } from './event_picker';

function Marked(props: { text: string; search: string }) {
	return (
		<>
			{markWords(props.text, props.search).map((part, i) =>
				part.found ? <mark key={i}>{part.text}</mark> : part.text,
			)}
		</>
	);
}

function Row(props: { event: EventInfo; search: string; chosen: boolean }) {
	const { event: e, search } = props;
	const can = isAvailable(e);
	return (
		<>
			<span class="tick" aria-hidden="true">
				{props.chosen ? '☑' : can ? '☐' : ''}
			</span>
			<span class="cut">
				<span class="mono name">
					<Marked text={e.name} search={search} />
				</span>
				{e.alias && (
					<span class="dim mono small">
						{' '}
						<Marked text={e.alias} search={search} />
					</span>
				)}
				<br />
				<span class="small about">
					<Marked text={aboutEvent(e)} search={search} />
				</span>
			</span>
			{e.used > 0 && can && (
				<span class="star" role="img" aria-label="used often" title={`Measured ${e.used} times`}>
					★
				</span>
			)}
		</>
	);
}

export function GroupButtons(props: {
	found: EventSearch;
	group: EventGroup | null;
	onGroup: (group: EventGroup | null) => void;
}) {
	const { found, group } = props;
	const open = found.countsOpen ? '+' : '';
	const total = found.counts.reduce((sum, c) => sum + c.count, 0);
	const button = (value: EventGroup | null, text: string, count: number, title?: string) => (
		<button
			key={text}
			type="button"
			class="plain"
			aria-pressed={group === value}
			title={title}
			// The search field keeps the focus.
			onMouseDown={(e) => e.preventDefault()}
			onClick={() => props.onGroup(value)}
		>
			{text}{' '}
			<span class="dim">
				{count}
				{value === null || value === 'tracepoint' ? open : ''}
			</span>
		</button>
	);
	return (
		<div class="event-groups" role="group" aria-label="Kinds of events">
			{button(null, 'All', total)}
			{found.counts.map((c) =>
				button(c.group, GROUP_NAMES[c.group].text, c.count, GROUP_NAMES[c.group].title),
			)}
		</div>
	);
}

/** The visible rows; scrolls to the active one. */
function useListScroll(count: number, active: number) {
	const box = useRef<HTMLDivElement>(null);
	const [top, setTop] = useState(0);
	const rows = { count, height: px(ROW_HEIGHT) };
	const height = box.current?.clientHeight ?? 360;
	useLayoutEffect(() => {
		if (box.current && active >= 0)
			box.current.scrollTop = scrollToShow(active, rows, {
				top: box.current.scrollTop,
				height: box.current.clientHeight,
			});
	}, [active]);
	return { box, setTop, ...rowsOnScreen(rows, { top, height }) };
}

export function EventList(props: {
	id: string;
	found: EventSearch;
	search: string;
	active: number;
	label: string;
	isChosen: (name: string) => boolean;
	onPick: (event: EventInfo) => void;
	onPoint: (index: number) => void;
}) {
	const { events, more } = props.found;
	const { box, setTop, first, last } = useListScroll(events.length, props.active);
	useLayoutEffect(() => {
		if (more && last >= events.length - 5) more();
	}, [last, events.length]);
	return (
		<div
			id={props.id}
			ref={box}
			class="event-list"
			role="listbox"
			aria-label={props.label}
			aria-multiselectable="true"
			onScroll={(e) => setTop(e.currentTarget.scrollTop)}
			onMouseDown={(e) => e.preventDefault()}
		>
			<div
				class="event-rows"
				role="presentation"
				style={{ height: events.length * px(ROW_HEIGHT) }}
			>
				{events.slice(first, last).map((e, i) => (
					<div
						key={e.name}
						id={`${props.id}-${first + i}`}
						role="option"
						class={props.active === first + i ? 'event-row active' : 'event-row'}
						aria-selected={props.isChosen(e.name)}
						aria-disabled={!isAvailable(e)}
						aria-posinset={first + i + 1}
						aria-setsize={more ? -1 : events.length}
						style={{ top: (first + i) * px(ROW_HEIGHT), height: px(ROW_HEIGHT) }}
						title={aboutEvent(e)}
						onClick={() => props.onPick(e)}
						onMouseMove={() => props.onPoint(first + i)}
					>
						<Row event={e} search={props.search} chosen={props.isChosen(e.name)} />
					</div>
				))}
			</div>
		</div>
	);
}

/* Results of the search for events. */
import type { EventInfo } from '../../api/types';
import { aboutEvent } from '../../logic/run/event_groups';
import { EventList, GroupButtons } from './event_list';
import type { Picker, PickerProps } from './event_picker';
import { Problem } from '../parts/states';

const HOW_TO = matchMedia('(hover: none)').matches
	? 'Tap to add or remove. ★ is used often.'
	: '↑ ↓ to choose, Enter to add or remove, Esc to close. ★ is used often.';

export function Found(
	props: { p: Picker; id: string; pick: (e: EventInfo) => void } & PickerProps,
) {
	const { p } = props;
	const { found } = p;
	const active = found.events[p.active];
	return (
		<>
			<GroupButtons found={found} group={p.group} onGroup={p.setGroup} />
			{found.error ? (
				<Problem error={found.error} />
			) : (
				<EventList
					id={props.id}
					found={found}
					search={p.text}
					active={p.active}
					label={props.label}
					isChosen={(name) => props.events.some((e) => e.name === name)}
					onPick={props.pick}
					onPoint={p.setActive}
				/>
			)}
			{!found.error && !found.loading && !found.events.length && (
				<p class="event-none">
					No event has all these words. {p.text.trim() && 'Enter takes it as you typed it.'}
				</p>
			)}
			<p class="event-about small" aria-live="polite">
				{active ? aboutEvent(active) : found.loading ? 'Searching …' : HOW_TO}
			</p>
		</>
	);
}

/* Chooses the event of the samples, if there are several: all views of a run follow it. */
import { go } from '../../state/address';

/** @event: the event that is shown; null until the server has said which. */
export function EventChoice(props: { events: string[]; event: string | null }) {
	const { events, event } = props;
	if (events.length < 2) return null;
	return (
		<select
			aria-label="Event of the samples"
			title="Which event the samples are of"
			value={event ?? ''}
			onChange={(e) => go({ event: e.currentTarget.value })}
		>
			{event === null && <option value="">…</option>}
			{events.map((name) => (
				<option key={name} value={name}>
					{name}
				</option>
			))}
		</select>
	);
}

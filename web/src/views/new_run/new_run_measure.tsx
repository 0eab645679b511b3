/* Fields for what is counted, what triggers samples, and how often. */
import { change, draft } from '../../state/draft';
import { EventPicker } from './event_picker';
import { Field, PresetField, Segments, TextField } from '../parts/form_parts';

const INTERVALS = [
	{ value: '0.01', text: '10 ms' },
	{ value: '0.1', text: '100 ms' },
	{ value: '1', text: '1 s' },
];

const FREQUENCIES = [
	{ value: '99', text: '99' },
	{ value: '999', text: '999' },
	{ value: '4999', text: '4999' },
];

export function Counting() {
	return (
		<section aria-label="Counting">
			<EventPicker
				name="events"
				label="Count"
				events={draft.value.events}
				onChange={(events) => change({ events })}
			/>
			<PresetField name="interval" label="Every" unit="s" presets={INTERVALS} />
		</section>
	);
}

function Rate() {
	const { rate } = draft.value;
	return (
		<>
			{rate === 'frequency' ? (
				<PresetField
					name="frequency"
					label="Samples a second"
					unit="Hz"
					presets={FREQUENCIES}
					hint={
						Number(draft.value.frequency) > 5000
							? 'More than 5000 samples a second slow the program down by 10 % or more.'
							: undefined
					}
				/>
			) : (
				<TextField
					name="period"
					label="Events between two samples"
					number
					hint="Takes a sample each time the event has happened this often."
				/>
			)}
			<button
				type="button"
				class="plain link"
				onClick={() => change({ rate: rate === 'frequency' ? 'period' : 'frequency' })}
			>
				{rate === 'frequency' ? 'Sample by event count instead' : 'Sample at a fixed rate instead'}
			</button>
		</>
	);
}

const CALL_GRAPHS = {
	fp: 'By frame pointers: cheap, and right for most programs. Chains that look cut off need “copies”.',
	dwarf: 'With a copy of the stack at each sample: right for every program, but costs more.',
	none: 'Only the function itself, without who called it.',
	lbr: 'By what the CPU remembers of the last calls. Not every CPU can.',
};

function CallGraph() {
	const { callgraph } = draft.value;
	const kind = callgraph.split(',')[0] as keyof typeof CALL_GRAPHS;
	const choices = [
		{ value: 'fp', text: 'Pointers', title: CALL_GRAPHS.fp },
		{ value: 'dwarf', text: 'Copies', title: CALL_GRAPHS.dwarf },
		{ value: 'none', text: 'None', title: CALL_GRAPHS.none },
	];
	// Any other setting of an earlier run is kept as a choice.
	if (!choices.some((c) => c.value === callgraph))
		choices.push({ value: callgraph, text: callgraph, title: CALL_GRAPHS[kind] ?? '' });
	return (
		<Field name="callgraph" label="Who called it (call stacks)" hint={CALL_GRAPHS[kind]} group>
			{() => (
				<Segments
					label="Call stacks"
					value={callgraph}
					choices={choices}
					onChange={(value) => change({ callgraph: value })}
					wide
				/>
			)}
		</Field>
	);
}

/** Conditions apply to the fields of tracepoints, whose names have a colon. */
function Filter() {
	const { samples, filter } = draft.value;
	if (!filter && !samples.some((e) => e.name.includes(':'))) return null;
	return (
		<TextField
			name="filter"
			label="Filter of tracepoints"
			placeholder="ret < 0"
			hint="Samples only hits whose fields meet this condition. All sampled events must be tracepoints."
			mono
		/>
	);
}

export function Sampling() {
	return (
		<section aria-label="Sampling">
			<EventPicker
				name="samples"
				label="Take samples by"
				events={draft.value.samples}
				onChange={(samples) => change({ samples })}
			/>
			<Filter />
			<Rate />
			<CallGraph />
		</section>
	);
}

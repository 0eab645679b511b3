/* The toolbar of the flame graph: mode, direction, colours, search, and saving. */
import { useRef } from 'preact/hooks';
import { apiPath } from '../../api/client';
import { COLOURS, FLAME_MODES, type Colour, type FlameMode } from '../../logic/address';
import { framesWords } from '../../logic/flame/flame_frames';
import { sampledEvents } from '../../logic/timeline/sampled';
import { address, go } from '../../state/address';
import { rootPlace } from '../../state/flame';
import { useShortcut } from '../../state/keys';
import { width } from '../../state/layout';
import { run } from '../../state/runs';
import { filters, windowQuery } from '../../state/selection';
import { EventChoice } from '../new_run/event_choice';
import { Popover } from '../parts/popover';
import { saveFile } from '../parts/save_file';

const MODES: Record<FlameMode, [string, string]> = {
	plain: ['Plain', 'From where the program begins to what was running'],
	inverted: [
		'Inverted',
		'From what was running to who called it: adds up what is called from many places',
	],
	sandwich: ['Sandwich', 'One function: who calls it above, what it calls below'],
	ordered: ['In time', 'From left to right as it happened'],
};

const COLOUR_WORDS: Record<Colour, string> = {
	kind: 'By kind',
	module: 'By module',
	name: 'By name',
};

function Modes() {
	const { mode } = address.value;
	return (
		<div class="segments" role="group" aria-label="Kind of flame graph">
			{FLAME_MODES.map((name) => (
				<button
					key={name}
					aria-pressed={name === mode}
					title={MODES[name][1]}
					onClick={() => go({ mode: name, focus: null })}
				>
					{MODES[name][0]}
				</button>
			))}
		</div>
	);
}

function SearchField() {
	const input = useRef<HTMLInputElement>(null);
	useShortcut({
		keys: '/',
		what: 'Search functions',
		where: 'Flame graph',
		run: () => input.current?.focus(),
	});
	const set = (text: string) => go({ search: text || null }, true);
	return (
		<div class="flame-search">
			<input
				ref={input}
				type="search"
				aria-label="Search functions"
				placeholder={width.value === 'phone' ? 'Search' : 'Search functions  /'}
				title="Part of a function's or module's name, or a /regular expression/"
				value={address.value.search ?? ''}
				onInput={(e) => set(e.currentTarget.value)}
				onKeyDown={(e) => e.key === 'Escape' && set('')}
			/>
		</div>
	);
}

/** Saves the graph as it is shown. */
function savePng(): void {
	const canvas = document.querySelector<HTMLCanvasElement>('.flame-host canvas');
	canvas?.toBlob((blob) => blob && saveFile(blob, 'flame.png'));
}

/** @event: the event of the graph. */
function Save(props: { event: string | null }) {
	if (!run.value) return null;
	const href = (ending: string) =>
		apiPath(`benchmark/${run.value!.uuid}.${ending}`, {
			...windowQuery(address.value.window),
			...filters.value,
			event: props.event,
		});
	return (
		<Popover button="Save" title="Save the flame graph" name="Save" align="right">
			{(close) => (
				<div class="menu" onClick={close}>
					<a href={href('svg')} download="flame.svg">
						SVG, whole selection
					</a>
					<a href={href('folded')} download="stacks.folded">
						Folded stacks, whole selection
					</a>
					<button onClick={savePng}>PNG, as it is shown</button>
				</div>
			)}
		</Popover>
	);
}

/** @event: the event whose samples are shown. */
export function FlameToolbar(props: { found: string; event: string | null }) {
	const onTop = rootPlace.value === 'top';
	const { colour, frames, mode } = address.value;
	return (
		<div class="flame-toolbar" role="group" aria-label="How the graph is shown">
			<Modes />
			<EventChoice
				events={run.value ? sampledEvents(run.value) : []}
				event={address.value.event ?? props.event}
			/>
			{mode !== 'sandwich' && (
				<button
					class="flame-root"
					aria-label="Root on top"
					aria-pressed={onTop}
					title="Draw the root at the top and let the graph hang down"
					onClick={() => go({ root: onTop ? 'bottom' : 'top' }, true)}
				>
					<span aria-hidden="true">Root on top</span>
				</button>
			)}
			<select
				aria-label="Colours"
				title="What the colours tell apart"
				value={colour}
				onChange={(e) => go({ colour: e.currentTarget.value as Colour }, true)}
			>
				{COLOURS.map((name) => (
					<option key={name} value={name}>
						{COLOUR_WORDS[name]}
					</option>
				))}
			</select>
			{frames && (
				<span class="chip">
					<span class="cut">only samples with {framesWords(frames)}</span>
					<button
						class="plain small"
						aria-label="Show all samples"
						onClick={() => go({ frames: null })}
					>
						×
					</button>
				</span>
			)}
			<SearchField />
			<Save event={address.value.event ?? props.event} />
			<output class="flame-found small">{props.found}</output>
		</div>
	);
}

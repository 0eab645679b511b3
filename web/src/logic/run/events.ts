/* Events as they are written in a plan ("cycles:u", "{a,b}:k", "cpu/event=0x3c/u") ⇄ chosen events
 * with modifiers. Neighbours can be joined into a group that is counted at the same time. */

export interface Chosen {
	name: string;
	/** Letters, such as "u" (only the program) or "pp". */
	modifiers: string;
	/** Counted together with the one before it. */
	joined: boolean;
}

const MODIFIER_LETTERS = 'ukhGHpPSDWeI';
const MODIFIERS = new RegExp(`^[${MODIFIER_LETTERS}]+$`);

/** Splits at commas that are neither in braces nor between slashes. */
export function splitEvents(text: string): string[] {
	const out: string[] = [];
	let depth = 0;
	let inTerms = false;
	let from = 0;
	for (let i = 0; i <= text.length; i++) {
		const c = text[i];
		// A breakpoint has one slash, before its length.
		if (c === '/' && !/^\s*mem:/.test(text.slice(from, i))) inTerms = !inTerms;
		else if (c === '{' && !inTerms) depth++;
		else if (c === '}' && !inTerms) depth--;
		if (c !== undefined && (c !== ',' || depth > 0 || inTerms)) continue;
		const part = text.slice(from, i).trim();
		if (part) out.push(part);
		from = i + 1;
	}
	return out;
}

/** Repeated letters are kept once, except p: its number matters. */
function addModifiers(before: string, more: string): string {
	let out = before;
	for (const letter of more) if (letter === 'p' || !out.includes(letter)) out += letter;
	return out;
}

function parseOne(text: string, joined: boolean): Chosen {
	const slash = text.lastIndexOf('/');
	const cut = slash > 0 ? slash + 1 : text.lastIndexOf(':');
	const tail = slash > 0 ? text.slice(cut).replace(/^:/, '') : text.slice(cut + 1);
	if (cut > 0 && MODIFIERS.test(tail)) return { name: text.slice(0, cut), modifiers: tail, joined };
	return { name: text, modifiers: '', joined };
}

function parseGroup(text: string): Chosen[] | null {
	const found = /^\{(.*)\}(?::(\w+))?$/s.exec(text);
	if (!found || (found[2] && !MODIFIERS.test(found[2]))) return null;
	return splitEvents(found[1]!).map((one, i) => {
		const chosen = parseOne(one, i > 0);
		// Modifiers of a group are added to those of its events.
		return { ...chosen, modifiers: addModifiers(chosen.modifiers, found[2] ?? '') };
	});
}

export function parseEvents(list: string[]): Chosen[] {
	return list
		.flatMap(splitEvents)
		.flatMap((text) => (text.startsWith('{') && parseGroup(text)) || [parseOne(text, false)]);
}

export function formatOne(event: Chosen): string {
	if (!event.modifiers) return event.name;
	return event.name + (event.name.endsWith('/') ? '' : ':') + event.modifiers;
}

/** Groups of neighbours; each has at least one. */
export function groupsOf(events: Chosen[]): Chosen[][] {
	const groups: Chosen[][] = [];
	for (const event of events) {
		const last = groups.at(-1);
		if (event.joined && last) last.push(event);
		else groups.push([event]);
	}
	return groups;
}

/** Entries of `events` of a plan. */
export function formatEvents(events: Chosen[]): string[] {
	return groupsOf(events).map((group) =>
		group.length > 1 ? `{${group.map(formatOne).join(',')}}` : formatOne(group[0]!),
	);
}

export function addEvent(events: Chosen[], name: string): Chosen[] {
	if (events.some((e) => e.name === name)) return events;
	return [...events, { name, modifiers: '', joined: false }];
}

/** If the first of a group is removed, the second must not join the group before it. */
export function removeEvent(events: Chosen[], index: number): Chosen[] {
	const removed = events[index];
	return events
		.map((e, i) => (i === index + 1 && removed && !removed.joined ? { ...e, joined: false } : e))
		.filter((_, i) => i !== index);
}

export type Mode = 'all' | 'user' | 'kernel';

export function modeOf(event: Chosen): Mode {
	const user = event.modifiers.includes('u');
	return user === event.modifiers.includes('k') ? 'all' : user ? 'user' : 'kernel';
}

export function withMode(event: Chosen, mode: Mode): Chosen {
	const rest = event.modifiers.replace(/[uk]/g, '');
	const letter = mode === 'all' ? '' : mode === 'user' ? 'u' : 'k';
	return { ...event, modifiers: letter + rest };
}

/** 0 … 3: how exactly the address of the sampled instruction must be known. */
export function precisionOf(event: Chosen): number {
	return event.modifiers.split('p').length - 1;
}

export function withPrecision(event: Chosen, precision: number): Chosen {
	return { ...event, modifiers: event.modifiers.replace(/p/g, '') + 'p'.repeat(precision) };
}

/** What the modifiers mean, for people. */
export function modifierWords(event: Chosen): string {
	const words: string[] = [];
	const mode = modeOf(event);
	if (mode === 'user') words.push('only the program itself');
	if (mode === 'kernel') words.push('only the kernel');
	if (precisionOf(event)) words.push('exact position');
	const rest = event.modifiers.replace(/[ukp]/g, '');
	if (rest) words.push('modifiers ' + rest);
	return words.join(', ');
}

/* The `tacho run` command that does the same as the form. */
import { formatEvents, type Chosen } from './events';
import { counts, nameOf, repeatsOf, samples, type Draft } from './plan';
import { quoteWord, splitWords } from '../words';

/** The default server of `tacho run`. */
const DEFAULT_SERVER = 'http://127.0.0.1:5000';

export interface Place {
	/** Address of the server. */
	server: string;
	/** Title or id of the session; null: the default of the command line. */
	session: string | null;
}

function option(name: string, value: string): string[] {
	return value.trim() ? [name + ' ' + quoteWord(value.trim())] : [];
}

function eventOption(name: string, events: Chosen[]): string[] {
	return option(name, formatEvents(events).join(','));
}

function measuring(draft: Draft): string[] {
	const out = draft.tool === 'both' ? [] : ['--tool ' + draft.tool];
	if (counts(draft)) out.push(...eventOption('-e', draft.events), ...option('-I', draft.interval));
	if (!samples(draft)) return out;
	out.push(...eventOption('-s', draft.samples), ...option('--filter', draft.filter));
	if (draft.rate === 'period') out.push(...option('-c', draft.period));
	else out.push(...option('-F', draft.frequency));
	return [...out, ...option('--call-graph', draft.callgraph)];
}

function target(draft: Draft): string[] {
	if (draft.target === 'command')
		return [
			...(draft.shell ? ['--shell'] : []),
			...draft.env
				.filter((v) => v.name.trim())
				.map((v) => '--env ' + quoteWord(v.name.trim() + '=' + v.value)),
			...option('--cwd', draft.cwd),
			...option('--user', draft.user),
			...option('--affinity', draft.affinity),
			...option('--timeout', draft.timeout),
		];
	const ids =
		draft.target === 'system'
			? ['-a', ...option('-C', draft.cpus)]
			: [...option('-p', draft.pids.join(',')), ...option('-t', draft.tids.join(','))];
	return [...ids, ...option('--duration', draft.duration)];
}

/** What follows "--": the words, or for a shell the text as one word. */
function command(draft: Draft): string {
	if (draft.target !== 'command' || !draft.command.trim()) return '';
	if (draft.shell) return ' -- ' + quoteWord(draft.command.trim());
	const { words } = splitWords(draft.command);
	return words ? ' -- ' + words.map(quoteWord).join(' ') : '';
}

function description(draft: Draft): string[] {
	if (repeatsOf(draft) > 1)
		return [`--description ${quoteWord(nameOf(draft) + ' ')}$i/${repeatsOf(draft)}`];
	return option('--description', draft.description);
}

/** Complete, to be pasted into a shell; without a command it ends where one has to be added. */
export function tachoLine(draft: Draft, place: Place): string {
	const parts = [
		'tacho run',
		...(place.server === DEFAULT_SERVER ? [] : option('--server', place.server)),
		...(place.session ? option('--session', place.session) : []),
		...measuring(draft),
		...target(draft),
		...description(draft),
		...(draft.keepRaw ? ['--keep-raw'] : []),
	];
	const line = parts.join(' ') + command(draft);
	const n = repeatsOf(draft);
	if (n === 1) return line;
	const numbers = Array.from({ length: n }, (_, i) => i + 1).join(' ');
	return `for i in ${numbers}; do ${line}; done`;
}

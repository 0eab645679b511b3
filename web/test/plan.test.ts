import { describe, expect, test } from 'vitest';
import type { Run } from '../src/api/types';
import { tachoLine } from '../src/logic/run/command_line';
import { formatEvents, parseEvents } from '../src/logic/run/events';
import { fieldOf, mistakesOf, messageFor } from '../src/logic/run/mistakes';
import {
	bareplanOf,
	DEFAULT_DRAFT,
	draftOf,
	planOf,
	plansOf,
	readDraft,
	usualDraft,
	type Draft,
} from '../src/logic/run/plan';

const draft = (part: Partial<Draft> = {}): Draft => ({ ...DEFAULT_DRAFT, command: 'ls', ...part });
const here = { server: 'http://127.0.0.1:5000', session: null };

/** As the server answers: fields that were not said have their defaults. */
function answered(plan: object): Run {
	return {
		uuid: 'u',
		workload: null,
		shell: false,
		env: [],
		cwd: null,
		run_as: null,
		timeout: 0,
		pids: [],
		tids: [],
		system_wide: false,
		cpus: null,
		events: [],
		interval: 0.1,
		streaming: true,
		keep_raw: false,
		client: null,
		...plan,
	} as unknown as Run;
}

describe('planOf', () => {
	test('says only what was chosen', () => {
		expect(bareplanOf(draft({ tool: 'stat' }))).toEqual({
			workload: 'ls',
			tool: 'stat',
			events: ['task-clock', 'page-faults', 'context-switches'],
			interval: 0.1,
		});
		expect(bareplanOf(draft({ tool: 'record', callgraph: 'dwarf' }))).toEqual({
			workload: 'ls',
			tool: 'record',
			sample: { events: ['cpu-clock'], frequency: 999, callgraph: 'dwarf' },
		});
	});

	test('everything of a command', () => {
		const plan = bareplanOf(
			draft({
				shell: true,
				env: [
					{ name: 'A', value: 'b c' },
					{ name: '', value: '' },
				],
				cwd: ' /usr ',
				user: 'nobody',
				affinity: '0-1',
				timeout: '2.5',
				rate: 'period',
				period: '5000',
				live: false,
				keepRaw: true,
				description: 'x',
				pids: [1],
				duration: '7',
			}),
		);
		expect(plan).toMatchObject({
			shell: true,
			env: { A: 'b c' },
			cwd: '/usr',
			user: 'nobody',
			affinity: '0-1',
			timeout: 2.5,
			streaming: false,
			keep_raw: true,
			description: 'x',
		});
		expect(plan.sample).toEqual({ events: ['cpu-clock'], period: 5000, callgraph: 'fp' });
		expect(plan).not.toHaveProperty('pids');
		expect(plan).not.toHaveProperty('duration');
	});

	test('attached and whole machine', () => {
		const attached = bareplanOf(
			draft({ target: 'attach', pids: [3, 4], duration: '2', cpus: '0' }),
		);
		expect(attached).toMatchObject({ pids: [3, 4], duration: 2 });
		// The server takes them for the whole machine only: they may be left from there.
		expect(attached.cpus).toBeUndefined();
		expect(attached).not.toHaveProperty('workload');
		expect(bareplanOf(draft({ target: 'system' }))).toMatchObject({
			system_wide: true,
			duration: 10,
		});
	});

	test('repetitions are numbered', () => {
		const plans = plansOf(draft({ repeat: '3', description: 'x' }));
		expect(plans.map((p) => p.description)).toEqual(['x 1/3', 'x 2/3', 'x 3/3']);
		expect(plansOf(draft()).map((p) => p.description)).toEqual([undefined]);
		const attached = draft({ repeat: '2', target: 'attach', pids: [7, 8] });
		expect(plansOf(attached)[0]!.description).toBe('processes 7, 8 1/2');
	});

	test('one begins with what the CPU can count', () => {
		expect(formatEvents(usualDraft(true).samples)).toEqual(['cycles']);
		expect(formatEvents(usualDraft(true).events)).toContain('instructions');
		expect(usualDraft(false)).toEqual(DEFAULT_DRAFT);
	});

	test('what would be too large for the server is not kept there', () => {
		expect(planOf(draft())).toHaveProperty('client');
		expect(planOf(draft({ command: 'x'.repeat(70000) }))).not.toHaveProperty('client');
	});
});

describe('draftOf', () => {
	test('brings the form back from a run of the page', () => {
		const mine = draft({
			tool: 'record',
			repeat: '4',
			events: parseEvents(['{a,b:u}']),
			env: [{ name: 'A', value: '1' }],
			target: 'attach',
			pids: [12],
		});
		expect(draftOf(answered(JSON.parse(JSON.stringify(planOf(mine)))))).toEqual(mine);
	});

	test('and from the plan of a run that something else started', () => {
		const back = draftOf(
			answered({
				tool: 'both',
				workload: 'make -j4',
				description: 'make -j4',
				env: [['A', 'b=c']],
				cwd: '/src',
				run_as: 'nobody',
				timeout: 3,
				events: ['task-clock,{page-faults,cs:u}'],
				interval: 0.01,
				sample: { events: [], period: 7, callgraph: null },
				client: { something: 'else' },
			}),
		)!;
		expect(back).toMatchObject({
			tool: 'both',
			target: 'command',
			command: 'make -j4',
			description: '',
			env: [{ name: 'A', value: 'b=c' }],
			cwd: '/src',
			user: 'nobody',
			timeout: '3',
			interval: '0.01',
			rate: 'period',
			period: '7',
			callgraph: 'none',
		});
		expect(formatEvents(back.events)).toEqual(['task-clock', '{page-faults,cs:u}']);
		expect(draftOf(answered({ pids: [5], duration: 2 }))).toMatchObject({
			target: 'attach',
			pids: [5],
			duration: '2',
		});
	});

	test('an imported file cannot be run', () => {
		expect(draftOf(answered({ import: 'perf.data' }))).toBeNull();
	});

	test('nonsense in storage or in a client field does no harm', () => {
		expect(readDraft(null)).toBeNull();
		expect(readDraft('x')).toBeNull();
		expect(
			readDraft({ tool: 'x', target: 3, env: [1, null], events: ['a'], pids: ['1'], repeat: 4 }),
		).toEqual({ ...DEFAULT_DRAFT, env: [], events: [], pids: [] });
	});
});

describe('mistakes', () => {
	test('none in what can be run', () => {
		expect(mistakesOf(draft())).toEqual({});
		expect(mistakesOf(draft({ affinity: '0-3, 8' }))).toEqual({});
		expect(mistakesOf(draft({ target: 'attach', pids: [1], command: '', duration: '' }))).toEqual(
			{},
		);
	});

	test.each<[Partial<Draft>, string]>([
		[{ command: ' ' }, 'command'],
		[{ command: 'ls "' }, 'command'],
		[{ cwd: 'usr' }, 'cwd'],
		[{ env: [{ name: '', value: 'x' }] }, 'env'],
		[{ env: [{ name: 'a=b', value: 'x' }] }, 'env'],
		[{ timeout: '-1' }, 'timeout'],
		[{ affinity: '3-1' }, 'affinity'],
		[{ affinity: '0-3,' }, 'affinity'],
		[{ target: 'system', cpus: 'x' }, 'cpus'],
		[{ target: 'attach' }, 'pids'],
		[{ target: 'system', duration: 'x' }, 'duration'],
		[{ events: [] }, 'events'],
		[{ interval: '0.0001' }, 'interval'],
		[{ interval: '' }, 'interval'],
		[{ samples: [] }, 'samples'],
		[{ frequency: '0' }, 'frequency'],
		[{ rate: 'period', period: '1.5' }, 'period'],
		[{ repeat: '0' }, 'repeat'],
	])('%j', (part, field) => expect(Object.keys(mistakesOf(draft(part)))).toEqual([field]));

	test('a quote that is open matters to a shell alone', () => {
		expect(mistakesOf(draft({ command: 'echo "a', shell: true }))).toEqual({});
	});

	test.each<[string, string | null]>([
		['\'affinity\' must be a list of CPUs, such as "0-3,8"', 'affinity'],
		["'sample.frequency' must be a number from 1 to 1000000", 'frequency'],
		["'env': 'A=b' cannot be the name of a variable", 'env'],
		['the command has a double quote that is not closed', 'command'],
		["call stacks are taken by fp, dwarf, dwarf,SIZE or lbr, not 'foo'", 'callgraph'],
		["unknown event 'cycels'; did you mean 'cycles'?\n  cycels\n  ^", 'events'],
		["unknown event 'cpu-clock'; did you mean …", 'samples'],
		['the disk is full', null],
	])('the server says: %s', (sentence, field) => expect(fieldOf(sentence, draft())).toBe(field));

	test('a filter of tracepoints is marked below its field', () => {
		const message = "sample.filter: a:b has no field 'x'.\n  x == 1\n  ^";
		expect(fieldOf(message, draft({ filter: 'x == 1' }))).toBe('filter');
		expect(messageFor('filter', message)).toBe("a:b has no field 'x'.\n  x == 1\n  ^");
		expect(fieldOf("'sample.filter' is too long", draft())).toBe('filter');
	});

	test('only its first line is shown', () => {
		expect(messageFor('events', "unknown event 'x'\n  x\n  ^")).toBe("unknown event 'x'");
	});
});

describe('tachoLine', () => {
	test('the defaults', () => {
		expect(tachoLine(draft({ command: 'find /usr -name "*.c"' }), here)).toBe(
			'tacho run -e task-clock,page-faults,context-switches -I 0.1 -s cpu-clock -F 999 ' +
				"--call-graph fp -- find /usr -name '*.c'",
		);
	});

	test('a filter of tracepoints', () => {
		const traced = draft({ samples: parseEvents(['a:b']), filter: ' x == 1 ' });
		expect(tachoLine(traced, here)).toContain(" -s a:b --filter 'x == 1' -F 999 ");
		expect(bareplanOf(traced).sample!.filter).toBe('x == 1');
		expect(bareplanOf(draft()).sample).not.toHaveProperty('filter');
		const run = { tool: 'record', workload: 'ls', sample: { events: ['a:b'], filter: 'x == 1' } };
		expect(draftOf(run as Run)!.filter).toBe('x == 1');
	});

	test('everything', () => {
		const line = tachoLine(
			draft({
				tool: 'record',
				command: 'a | b',
				shell: true,
				env: [{ name: 'A', value: "it's" }],
				cwd: '/my dir',
				affinity: '0',
				timeout: '3',
				rate: 'period',
				period: '10',
				samples: parseEvents(['{a,b:u}']),
				keepRaw: true,
				description: 'my run',
			}),
			{ server: 'http://host:1', session: 'my session' },
		);
		expect(line).toBe(
			"tacho run --server http://host:1 --session 'my session' --tool record -s '{a,b:u}' -c 10 " +
				"--call-graph fp --shell --env 'A=it'\\''s' --cwd '/my dir' --affinity 0 --timeout 3 " +
				"--description 'my run' --keep-raw -- 'a | b'",
		);
	});

	test('attached, whole machine and repetitions', () => {
		const attached = draft({ target: 'attach', tool: 'stat', pids: [1, 2], duration: '5' });
		expect(tachoLine(attached, here)).toContain(' -p 1,2 --duration 5');
		expect(tachoLine(draft({ target: 'system', cpus: '0' }), here)).toContain(' -a -C 0 ');
		expect(tachoLine(draft({ repeat: '2' }), here)).toMatch(
			/^for i in 1 2; do tacho run .* --description 'ls '\$i\/2 -- ls; done$/,
		);
	});
});

/* Rarely needed settings, folded: environment and directory of a command, storage of the run. */
import { mergeVariables, parseVariables } from '../../logic/run/env';
import { DEFAULT_DRAFT, type Draft, type Variable } from '../../logic/run/plan';
import { plural } from '../../logic/format';
import { change, draft, mistakes } from '../../state/draft';
import { CheckField, Field, TextField } from '../parts/form_parts';
import { Icon } from '../parts/icons';

function setVariable(index: number, part: Partial<Variable>): void {
	change({ env: draft.value.env.map((v, i) => (i === index ? { ...v, ...part } : v)) });
}

/** Pasted lines of FOO=bar become rows. */
function pasted(e: ClipboardEvent): void {
	const more = parseVariables(e.clipboardData?.getData('text') ?? '');
	if (!more) return;
	e.preventDefault();
	change({ env: mergeVariables(draft.value.env, more) });
}

function VariableRow(props: { variable: Variable; index: number }) {
	const { variable: v, index } = props;
	const nth = v.name || `variable ${index + 1}`;
	return (
		<li>
			<input
				class="mono"
				aria-label={`Name of ${nth}`}
				placeholder="NAME"
				autocomplete="off"
				autocapitalize="off"
				spellcheck={false}
				value={v.name}
				onPaste={pasted}
				onInput={(e) => setVariable(index, { name: e.currentTarget.value })}
			/>
			<span aria-hidden="true">=</span>
			<input
				class="mono"
				aria-label={`Value of ${nth}`}
				placeholder="value"
				autocomplete="off"
				autocapitalize="off"
				spellcheck={false}
				value={v.value}
				onInput={(e) => setVariable(index, { value: e.currentTarget.value })}
			/>
			<button
				type="button"
				class="plain sign"
				aria-label={`Remove ${nth}`}
				title={`Remove ${nth}`}
				onClick={() => change({ env: draft.value.env.filter((_, i) => i !== index) })}
			>
				<Icon name="close" size={12} />
			</button>
		</li>
	);
}

function Environment() {
	const { env } = draft.value;
	return (
		<Field name="env" label="Environment" group>
			{(control) => (
				<>
					{env.length > 0 && (
						<ul class="variables" aria-label="Variables">
							{env.map((v, i) => (
								<VariableRow key={i} variable={v} index={i} />
							))}
						</ul>
					)}
					<button
						{...control}
						type="button"
						title="Lines of NAME=value can be pasted into the name"
						onPaste={pasted}
						onClick={() => change({ env: [...env, { name: '', value: '' }] })}
					>
						<Icon name="plus" size={12} /> Add a variable
					</button>
				</>
			)}
		</Field>
	);
}

const OF_COMMAND = ['env', 'cwd', 'affinity', 'timeout', 'user'] as const;
const OF_ALL = ['repeat', 'description', 'live', 'keepRaw'] as const;

function namesFor(d: Draft) {
	return d.target === 'command' ? [...OF_COMMAND, ...OF_ALL] : [...OF_ALL];
}

export function More() {
	const d = draft.value;
	const names = namesFor(d);
	const set = names.filter((n) => JSON.stringify(d[n]) !== JSON.stringify(DEFAULT_DRAFT[n])).length;
	const wrong = names.some((n) => mistakes.value[n]);
	return (
		<details class="new-run-more" open={wrong || undefined}>
			<summary>
				More
				<span class="dim small">
					{set
						? `${plural(set, 'setting')} changed`
						: d.target === 'command'
							? 'environment, directory, repeat …'
							: 'repeat, name …'}
				</span>
			</summary>
			<div class="folded">
				{d.target === 'command' && (
					<>
						<Environment />
						<TextField
							name="cwd"
							label="Directory"
							placeholder="where the server was started"
							mono
						/>
						<TextField name="affinity" label="CPUs it may use" placeholder="all, or 0-3,8" mono />
						<TextField name="timeout" label="End it after (seconds)" placeholder="never" number />
						<TextField
							name="user"
							label="Run as user"
							placeholder="the server’s own"
							hint={d.user ? 'The server needs the right to do so.' : undefined}
							mono
						/>
					</>
				)}
				<TextField
					name="repeat"
					label="Repeat"
					number
					hint="So many runs one after the other: to see how much the figures vary."
				/>
				<TextField name="description" label="Name of the run" placeholder="the command" />
				<CheckField name="live" label="Watch it live" hint="Off: nothing is sent while it runs." />
				<CheckField
					name="keepRaw"
					label="Keep the perf.data file"
					hint="For other tools: the download is exactly what was recorded. Takes more room."
				/>
			</div>
		</details>
	);
}

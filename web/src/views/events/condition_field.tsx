/* The field for the condition on rows. Enter, or leaving the field, applies it. */
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { address, go } from '../../state/address';
import { Marked } from '../parts/marked';

/** @problem is the server's message about an invalid condition. */
export function ConditionField(props: { problem: string | null; example: string }) {
	const { where } = address.value;
	const [text, setText] = useState(where ?? '');
	const input = useRef<HTMLInputElement>(null);
	const id = useId();
	// Clicking a value and the browser's back button change the condition, too.
	useEffect(() => setText(where ?? ''), [where]);
	const apply = (value: string) => {
		const next = value.trim() || null;
		if (next !== address.peek().where) go({ where: next });
	};
	const { problem } = props;
	return (
		<div class="event-condition">
			<form
				role="search"
				onSubmit={(e) => {
					e.preventDefault();
					apply(text);
				}}
			>
				<input
					ref={input}
					type="search"
					class="mono"
					value={text}
					placeholder={`Condition: ${props.example}`}
					aria-label="Show rows that meet this condition"
					title="Comparisons of columns by == != < <= > >= & ~ (with * and ?), joined by && || ! and ( )"
					spellcheck={false}
					autocomplete="off"
					autocapitalize="off"
					aria-invalid={problem ? true : undefined}
					aria-describedby={id}
					onInput={(e) => {
						setText(e.currentTarget.value);
						if (!e.currentTarget.value) apply('');
					}}
					onBlur={() => apply(text)}
				/>
			</form>
			<div id={id} class="event-problem" aria-live="polite">
				{problem && <Marked message={problem} />}
			</div>
		</div>
	);
}

/* The outcome of a run: a sign, a colour and a word. */
import type { Run } from '../../api/types';
import { outcomeOf, STATE_SIGNS, STATE_WORDS } from '../../logic/run/run_words';

export function StateSign(props: { run: Run }) {
	const outcome = outcomeOf(props.run);
	return (
		<span
			class={'state-sign ' + outcome}
			role="img"
			aria-label={STATE_WORDS[outcome]}
			title={STATE_WORDS[outcome]}
		>
			{STATE_SIGNS[outcome]}
		</span>
	);
}

/* The state of a run: a sign, a colour and a word. */
import type { RunState } from '../api/types';
import { STATE_SIGNS, STATE_WORDS } from '../logic/run_words';

export function StateSign(props: { state: RunState }) {
	return (
		<span
			class={'state-sign ' + props.state}
			role="img"
			aria-label={STATE_WORDS[props.state]}
			title={STATE_WORDS[props.state]}
		>
			{STATE_SIGNS[props.state]}
		</span>
	);
}

/* A message of the server about a text that was typed: a sentence, and below it the text with a mark under the
 * wrong character, which only a font of equal widths puts in the right place. */
import { splitMarked } from '../../logic/rows/condition';
import './marked.css';

export function Marked(props: { message: string }) {
	const { sentence, marked } = splitMarked(props.message);
	return (
		<>
			<p>{sentence}</p>
			{marked !== null && (
				<pre class="marked-text" tabIndex={0} aria-label="The text with its wrong place">
					{marked}
				</pre>
			)}
		</>
	);
}

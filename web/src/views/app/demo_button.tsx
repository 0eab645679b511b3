/* Profiles the demo program of the server, if it has one. */
import { startDemo } from '../../state/draft';
import { me } from '../../state/server';
import { tell } from '../../state/toasts';
import { Icon } from '../parts/icons';

export function DemoButton(props: { class?: string }) {
	if (!me.value?.server.demo?.length) return null;
	return (
		<button class={props.class} onClick={() => void startDemo().catch(tell)}>
			<Icon name="play" size={14} /> Profile the demo program
		</button>
	);
}

/* Messages at the lower edge, and the progress of uploads. */
import { dismiss, hold, toasts, undoToast, type Toast } from '../../state/toasts';
import { Icon } from '../parts/icons';
import { Uploads } from '../runs/uploads';
import './toasts.css';

function Message(props: { toast: Toast }) {
	const t = props.toast;
	return (
		<div class={'toast ' + t.kind} role={t.kind === 'error' ? 'alert' : 'status'}>
			{t.kind === 'error' && <Icon name="warning" />}
			<p>{t.text}</p>
			{t.undo && (
				<button class="plain" onClick={() => undoToast(t)}>
					Undo
				</button>
			)}
			{t.action && (
				<button
					class="plain"
					onClick={() => {
						t.action!.run();
						dismiss(t.id);
					}}
				>
					{t.action.label}
				</button>
			)}
			<button class="plain sign" aria-label="Dismiss" onClick={() => dismiss(t.id)}>
				<Icon name="close" size={14} />
			</button>
		</div>
	);
}

export function Toasts() {
	return (
		<section
			class="toasts"
			aria-label="Messages"
			onPointerEnter={() => hold(true)}
			onPointerLeave={() => hold(false)}
			onFocusIn={() => hold(true)}
			onFocusOut={() => hold(false)}
		>
			<Uploads />
			{toasts.value.map((t) => (
				<Message key={t.id} toast={t} />
			))}
		</section>
	);
}

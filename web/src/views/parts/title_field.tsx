/* Renaming in place: Enter or leaving the field saves the title, Esc discards it. */
import { useEffect, useRef } from 'preact/hooks';

export function TitleField(props: { title: string; done: (title: string | null) => void }) {
	const field = useRef<HTMLInputElement>(null);
	const over = useRef(false);
	useEffect(() => {
		field.current!.focus();
		field.current!.select();
	}, []);
	const finish = (keep: boolean) => {
		if (over.current) return;
		over.current = true;
		const text = field.current!.value.trim();
		props.done(keep && text && text !== props.title ? text : null);
	};
	return (
		<input
			ref={field}
			class="title-field"
			aria-label="Title of the session"
			maxLength={1000}
			defaultValue={props.title}
			onBlur={() => finish(true)}
			onKeyDown={(e) => {
				if (e.key === 'Enter') finish(true);
				if (e.key === 'Escape') finish(false);
			}}
		/>
	);
}

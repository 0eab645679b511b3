/* A button with a small panel below it, or above it if there is no room below. Esc, a click
 * elsewhere and leaving by Tab close the panel. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useLeaving } from './use_leaving';

interface Props {
	/** Content of the button; `label` names the button if that is only a sign. */
	button: ComponentChildren;
	label?: string;
	title?: string;
	class?: string;
	/** Name of the panel. */
	name: string;
	align?: 'left' | 'right';
	onToggle?: (open: boolean) => void;
	children: (close: () => void) => ComponentChildren;
}

export function Popover(props: Props) {
	const [open, setOpen] = useState(false);
	const box = useRef<HTMLDivElement>(null);
	const opener = useRef<HTMLButtonElement>(null);
	const panel = useRef<HTMLDivElement>(null);
	const [above, setAbove] = useState(false);
	useLayoutEffect(() => {
		if (!open) return setAbove(false);
		const { bottom, height } = panel.current!.getBoundingClientRect();
		setAbove(bottom > innerHeight && opener.current!.getBoundingClientRect().top > height);
	}, [open]);
	const change = (to: boolean) => {
		setOpen(to);
		props.onToggle?.(to);
	};
	useLeaving([box], () => change(false), open);
	const closeByKey = (e: KeyboardEvent) => {
		if (e.key !== 'Escape' || !open) return;
		e.preventDefault();
		e.stopPropagation();
		change(false);
		opener.current?.focus();
	};
	return (
		<div class="popover-box" ref={box} onKeyDown={closeByKey}>
			<button
				ref={opener}
				class={props.class}
				aria-expanded={open}
				aria-haspopup="dialog"
				aria-label={props.label}
				title={props.title ?? props.label}
				onClick={() => change(!open)}
			>
				{props.button}
			</button>
			{open && (
				<div
					ref={panel}
					class={`popover ${props.align ?? 'left'} ${above ? 'above' : ''}`}
					role="dialog"
					aria-label={props.name}
				>
					{props.children(() => change(false))}
				</div>
			)}
		</div>
	);
}

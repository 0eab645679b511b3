/* What can be done with a node: opened by the right button, a long touch, or a key. */
import { useEffect, useRef } from 'preact/hooks';

export interface FlameAction {
	label: string;
	run: () => void;
}

export interface MenuPlace {
	node: number;
	x: number;
	y: number;
}

export function FlameMenu(props: {
	title: string;
	place: MenuPlace;
	actions: FlameAction[];
	/** @back: the focus goes to where it came from. */
	onClose: (back: boolean) => void;
}) {
	const { title, place, actions, onClose } = props;
	const menu = useRef<HTMLDivElement>(null);
	useEffect(() => {
		const element = menu.current!;
		const host = element.offsetParent as HTMLElement;
		const left = Math.min(place.x, host.clientWidth - element.offsetWidth - 4);
		const top = Math.min(place.y, host.clientHeight - element.offsetHeight - 4);
		element.style.left = `${Math.max(4, left)}px`;
		element.style.top = `${Math.max(4, top)}px`;
		element.querySelector('button')!.focus();
	}, [place]);
	const onKeyDown = (e: KeyboardEvent) => {
		const items = [...menu.current!.querySelectorAll('button')];
		const at = items.indexOf(document.activeElement as HTMLButtonElement);
		const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
		if (step) items[(at + step + items.length) % items.length]!.focus();
		else if (e.key === 'Home') items[0]!.focus();
		else if (e.key === 'End') items[items.length - 1]!.focus();
		else if (e.key === 'Escape' || e.key === 'Tab') onClose(true);
		else return;
		e.preventDefault();
		e.stopPropagation();
	};
	const onFocusOut = (e: FocusEvent) => {
		if (!menu.current!.contains(e.relatedTarget as Node | null)) onClose(false);
	};
	return (
		<div
			ref={menu}
			class="popover flame-menu"
			role="menu"
			aria-label={title}
			onKeyDown={onKeyDown}
			onFocusOut={onFocusOut}
		>
			<p class="mono cut small" role="presentation" title={title}>
				{title}
			</p>
			{actions.map((action) => (
				<button
					key={action.label}
					role="menuitem"
					tabIndex={-1}
					class="plain"
					onClick={() => {
						onClose(true);
						action.run();
					}}
				>
					{action.label}
				</button>
			))}
		</div>
	);
}

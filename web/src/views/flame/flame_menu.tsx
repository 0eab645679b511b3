/* The menu of a node: opened by the right button, a long touch, or a key. */
import { useEffect, useRef } from 'preact/hooks';
import { menuKey } from '../parts/menu_keys';
import { putBeside } from '../parts/put_beside';

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
	/** @back: the focus must return to the graph. */
	onClose: (back: boolean) => void;
}) {
	const { title, place, actions, onClose } = props;
	const menu = useRef<HTMLDivElement>(null);
	useEffect(() => {
		const element = menu.current!;
		putBeside(element, place, 0);
		element.querySelector('button')!.focus();
	}, [place]);
	const onKeyDown = (e: KeyboardEvent) => {
		if (menuKey(e) || (e.key !== 'Escape' && e.key !== 'Tab')) return;
		e.preventDefault();
		e.stopPropagation();
		onClose(true);
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

/* The menu of a run in the list. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Run } from '../../api/types';
import { address, go, link } from '../../state/address';
import { copyText } from '../../state/copy';
import { cancelRun, deleteRun, hasEnded, rerun } from '../../state/runs';
import { mayChange, mayRun } from '../../state/server';
import { runName } from '../../logic/run/run_words';
import { Floating } from '../parts/floating';
import { Icon, type IconName } from '../parts/icons';
import { menuKey } from '../parts/menu_keys';

interface Action {
	text: string;
	icon: IconName;
	act: () => void;
	danger?: boolean;
}

/** A deleted run cannot be compared with: unpins it. */
function remove(run: Run): void {
	const { a, b } = address.value;
	if (a === run.uuid) go({ a: null }, true);
	if (b === run.uuid) go({ b: null }, true);
	deleteRun(run);
}

function actionsOf(run: Run, edit: () => void): Action[] {
	const url = location.origin + link({ session: run.session, run: run.uuid, a: null, b: null });
	const copy: Action = {
		text: 'Copy link',
		icon: 'link',
		act: () => void copyText(url, 'The link to this run was copied.'),
	};
	if (!mayRun.value) return [copy];
	const again: Action[] = run.import
		? []
		: [{ text: 'Run again', icon: 'repeat', act: () => void rerun(run.uuid) }];
	if (!mayChange(run)) return [...again, copy];
	return [
		...again,
		{ text: 'Edit name, note, tags', icon: 'pencil', act: edit },
		copy,
		...(hasEnded(run)
			? []
			: [{ text: 'Stop', icon: 'stop', act: () => void cancelRun(run.uuid) } as const]),
		{ text: 'Delete', icon: 'trash', act: () => remove(run), danger: true },
	];
}

function Items(props: { actions: Action[]; close: () => void }) {
	const box = useRef<HTMLDivElement>(null);
	useLayoutEffect(() => box.current?.querySelector('button')?.focus(), []);
	return (
		<div ref={box} class="menu" role="menu" aria-label="What to do with it" onKeyDown={menuKey}>
			{props.actions.map((a) => (
				<button
					key={a.text}
					type="button"
					role="menuitem"
					class={a.danger ? 'danger' : undefined}
					onClick={() => {
						props.close();
						a.act();
					}}
				>
					<Icon name={a.icon} size={14} /> {a.text}
				</button>
			))}
		</div>
	);
}

export function RunMenu(props: { run: Run; edit: () => void }) {
	const [open, setOpen] = useState(false);
	const anchor = useRef<HTMLDivElement>(null);
	const close = () => {
		setOpen(false);
		anchor.current?.querySelector('button')?.focus();
	};
	return (
		<div
			ref={anchor}
			class="run-menu"
			onKeyDown={(e) => {
				if (e.key !== 'Escape' || !open) return;
				e.stopPropagation();
				close();
			}}
		>
			<button
				type="button"
				class="plain sign"
				aria-haspopup="menu"
				aria-expanded={open}
				aria-label={`More about ${runName(props.run)}`}
				title="Run again, rename, note, delete …"
				onClick={() => setOpen(!open)}
			>
				<Icon name="dots" />
			</button>
			{open && (
				<Floating anchor={anchor} width={210} height={220} onLeave={() => setOpen(false)}>
					<Items actions={actionsOf(props.run, props.edit)} close={close} />
				</Floating>
			)}
		</div>
	);
}

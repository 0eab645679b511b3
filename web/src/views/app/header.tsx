/* The bar on top: the open session, search, the queue, light or dark, help. */
import { useRef, useState } from 'preact/hooks';
import { keyCaps } from '../../logic/keys';
import { address, follow, goHome, link } from '../../state/address';
import { HOME } from '../../logic/address';
import { dialog } from '../../state/dialogs';
import { onMac } from '../../state/keys';
import { OTHERS_RUNS } from '../../logic/run/owner';
import { runs, session } from '../../state/runs';
import { mayChange, mayRun } from '../../state/server';
import {
	deleteSession,
	loadSessions,
	newSession,
	renameSession,
	search,
	sessions,
} from '../../state/sessions';
import { dark, switchTheme } from '../../state/theme';
import { chooseFile } from '../../state/uploads';
import { Icon, Logo } from '../parts/icons';
import { Popover } from '../parts/popover';
import { QueuePopover } from '../runs/queue_popover';
import { TitleField } from '../parts/title_field';
import './header.css';

const MENU_SESSIONS = 8;

function SessionMenu(props: { close: () => void; rename: () => void }) {
	const open = session.value!;
	const mixed = runs.value.some((r) => !mayChange(r));
	const why = mixed ? OTHERS_RUNS : undefined;
	const others = (sessions.value ?? []).filter((s) => s.uuid !== open.uuid);
	const then = (fn: () => void) => () => {
		props.close();
		fn();
	};
	return (
		<div class="menu session-menu">
			{mayRun.value && (
				<>
					<button onClick={then(props.rename)} disabled={mixed} title={why}>
						<Icon name="pencil" /> Rename
					</button>
					<button onClick={then(chooseFile)}>
						<Icon name="upload" /> Import a perf.data
					</button>
					<button
						class="danger"
						onClick={then(() => deleteSession(open))}
						disabled={mixed}
						title={why}
					>
						<Icon name="trash" /> Delete with all runs
					</button>
					<hr />
				</>
			)}
			{others.length > 0 && <h3>Other sessions</h3>}
			{others.slice(0, MENU_SESSIONS).map((s) => {
				const to = { ...HOME, a: address.value.a, b: address.value.b, session: s.uuid };
				return (
					<a
						key={s.uuid}
						href={link(to)}
						onClick={(e) => {
							follow(to)(e);
							if (e.defaultPrevented) props.close();
						}}
					>
						<span class="cut">{s.title}</span>
					</a>
				);
			})}
			{others.length > 0 && <hr />}
			{mayRun.value && (
				<button onClick={then(newSession)}>
					<Icon name="plus" /> New session
				</button>
			)}
			<button onClick={then(goHome)}>
				<Icon name="list" /> All sessions
			</button>
		</div>
	);
}

function Breadcrumb() {
	const [renaming, setRenaming] = useState(false);
	const box = useRef<HTMLLIElement>(null);
	const s = session.value;
	if (!s) return null;
	const done = (title: string | null) => {
		setRenaming(false);
		if (title) void renameSession(s.uuid, title);
		setTimeout(() => box.current?.querySelector('button')?.focus());
	};
	return (
		<li ref={box} class="crumb">
			<Icon name="right" size={12} />
			{renaming ? (
				<TitleField title={s.title} done={done} />
			) : (
				<Popover
					name="Session"
					class="plain session-name"
					title={s.title}
					button={
						<>
							<span class="cut">{s.title}</span>
							<Icon name="down" size={12} />
						</>
					}
					onToggle={(open) => {
						if (!open) return;
						search.value = '';
						void loadSessions();
					}}
				>
					{(close) => <SessionMenu close={close} rename={() => setRenaming(true)} />}
				</Popover>
			)}
		</li>
	);
}

export function Header() {
	const theme = dark.value ? 'Light colours' : 'Dark colours';
	return (
		<header class="top-bar">
			<nav aria-label="Where you are">
				<ol>
					<li>
						<a
							class="brand"
							href={link({ ...HOME, a: address.value.a, b: address.value.b })}
							onClick={follow({ ...HOME, a: address.value.a, b: address.value.b })}
							aria-label="tacho: all sessions"
							title="All sessions"
						>
							<Logo />
							<span>tacho</span>
						</a>
					</li>
					<Breadcrumb />
				</ol>
			</nav>
			<button class="find" onClick={() => (dialog.value = 'palette')}>
				<Icon name="search" />
				<span class="words">Search</span>
				<span class="caps" aria-hidden="true">
					{keyCaps('Mod+k', onMac).map((cap) => (
						<kbd key={cap}>{cap}</kbd>
					))}
				</span>
			</button>
			<div class="tools">
				<QueuePopover />
				<button class="plain sign" aria-label={theme} title={theme} onClick={switchTheme}>
					<Icon name={dark.value ? 'sun' : 'moon'} />
				</button>
				<button
					class="plain sign help"
					aria-label="Keyboard shortcuts"
					title="Keyboard shortcuts (?)"
					onClick={() => (dialog.value = 'help')}
				>
					?
				</button>
			</div>
		</header>
	);
}

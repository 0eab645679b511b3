/* The whole page: a bar on top, and below it the sessions or the workbench of one. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { address, goHome } from '../../state/address';
import { dialog } from '../../state/dialogs';
import { useShortcut } from '../../state/keys';
import { connection } from '../../state/server';
import '../../state/follow';
import { switchTheme } from '../../state/theme';
import '../../state/title';
import { tell } from '../../state/toasts';
import { Banner, Refused, Warnings } from './banner';
import { Header } from './header';
import { lazy } from '../parts/lazy';
import { Sessions } from '../runs/sessions';
import { Toasts } from './toasts';
import { DropTarget } from '../runs/uploads';
import './app.css';

const Workbench = lazy('Opening the session …', () =>
	import('./workbench').then((m) => m.Workbench),
);

/** A link to a run loads all code at once; the list of sessions is shown before the rest loads. */
function prepareWorkbench(): void {
	const { session, run } = address.value;
	if (run) void import('../timeline/timeline_row').catch(() => {});
	if (session || run) Workbench.prepare();
	else if ('requestIdleCallback' in window) requestIdleCallback(Workbench.prepare);
	else setTimeout(Workbench.prepare, 300);
}
prepareWorkbench();

/** Search and the sheet of keys are loaded when they are first opened. */
const DIALOGS = {
	palette: () => import('./palette').then((m) => m.Palette),
	help: () => import('./help').then((m) => m.Help),
};

function Dialogs() {
	const wanted = dialog.value;
	const [loaded, setLoaded] = useState<Partial<Record<string, ComponentType>>>({});
	useEffect(() => {
		if (wanted && !loaded[wanted])
			DIALOGS[wanted]().then(
				(View) => setLoaded((all) => ({ ...all, [wanted]: View })),
				(error) => {
					dialog.value = null;
					tell(error);
				},
			);
	}, [wanted]);
	const View = wanted && loaded[wanted];
	return View ? <View /> : null;
}

function useKeysOfPage(): void {
	const where = 'Everywhere';
	const palette = () => (dialog.value = 'palette');
	useShortcut({ keys: 'Mod+k', what: 'Search and commands', where, run: palette });
	useShortcut({ keys: '?', what: 'This sheet', where, run: () => (dialog.value = 'help') });
	useShortcut({ keys: 'h', what: 'All sessions', where, run: goHome });
	useShortcut({ keys: 't', what: 'Light or dark', where, run: switchTheme });
}

export function App() {
	useKeysOfPage();
	const { session, run, full } = address.value;
	const open = session || run;
	if (connection.value === 'refused') return <Refused />;
	return (
		<>
			{!(full && open) && <Header />}
			<Banner />
			<Warnings />
			{open ? <Workbench /> : <Sessions />}
			<Toasts />
			<DropTarget />
			<Dialogs />
		</>
	);
}

/* All keyboard shortcuts that apply at present. */
import { useEffect, useRef } from 'preact/hooks';
import { groupShortcuts } from '../../logic/key_groups';
import { keyCaps } from '../../logic/keys';
import { dialog } from '../../state/dialogs';
import { onMac, shortcuts } from '../../state/keys';
import { me } from '../../state/server';
import { Icon } from '../parts/icons';
import './help.css';

function Caps(props: { keys: string }) {
	return (
		<>
			{props.keys.split(' ').map((keys, i) => (
				<span key={keys}>
					{i > 0 && <span class="dim small"> or </span>}
					{keyCaps(keys, onMac).map((cap) => (
						<kbd key={cap}>{cap}</kbd>
					))}
				</span>
			))}
		</>
	);
}

export function Help() {
	const box = useRef<HTMLDialogElement>(null);
	useEffect(() => {
		box.current!.showModal();
	}, []);
	const close = () => (dialog.value = null);
	return (
		<dialog
			ref={box}
			class="help-sheet"
			aria-labelledby="help-title"
			onClose={close}
			onClick={(e) => e.target === box.current && close()}
		>
			<div class="dialog-head">
				<h2 id="help-title">Keyboard shortcuts</h2>
				<button class="plain sign" aria-label="Close" onClick={close}>
					<Icon name="close" />
				</button>
			</div>
			<div class="groups">
				{groupShortcuts(shortcuts.value).map(([where, list]) => (
					<section key={where}>
						<h3>{where}</h3>
						<dl>
							{list.map((s) => (
								<div key={s.keys + s.what}>
									<dt>
										<Caps keys={s.keys} />
									</dt>
									<dd>{s.what}</dd>
								</div>
							))}
						</dl>
					</section>
				))}
			</div>
			{me.value && (
				<p class="small dim">
					tacho {me.value.server.version} on {me.value.server.host}, as {me.value.name} (may{' '}
					{me.value.role}). {me.value.server.runs.rights}
				</p>
			)}
		</dialog>
	);
}

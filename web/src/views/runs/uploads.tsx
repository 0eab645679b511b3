/* Importing a recording by dropping it anywhere on the page, and the progress of uploads. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { quoted } from '../../logic/format';
import { formatBytes } from '../../logic/units';
import { session } from '../../state/runs';
import { mayRun } from '../../state/server';
import { importFile, uploads } from '../../state/uploads';
import { Icon } from '../parts/icons';

export function Uploads() {
	return (
		<>
			{uploads.value.map((u) => (
				<div key={u.id} class="toast upload" role="status">
					<p class="cut">
						{u.sent < u.size ? 'Sending' : 'Reading'} {u.name}
					</p>
					<span class="small dim number">
						{formatBytes(u.sent)} of {formatBytes(u.size)}
					</span>
					<button class="plain sign" aria-label={`Stop sending ${u.name}`} onClick={u.stop}>
						<Icon name="close" size={14} />
					</button>
					<progress aria-label={`Sending ${u.name}`} value={u.sent} max={Math.max(1, u.size)} />
				</div>
			))}
		</>
	);
}

const over = signal(false);

function brings(e: DragEvent): boolean {
	return e.dataTransfer?.types.includes('Files') ?? false;
}

function useDrop(): void {
	useEffect(() => {
		const enter = (e: DragEvent) => {
			if (!brings(e)) return;
			e.preventDefault();
			over.value = true;
		};
		const leave = (e: DragEvent) => {
			// Without a target the window was left, not just an element of the page.
			if (!e.relatedTarget) over.value = false;
		};
		const drop = (e: DragEvent) => {
			if (!brings(e)) return;
			e.preventDefault();
			over.value = false;
			for (const file of e.dataTransfer!.files) void importFile(file);
		};
		window.addEventListener('dragenter', enter);
		window.addEventListener('dragover', enter);
		window.addEventListener('dragleave', leave);
		window.addEventListener('drop', drop);
		return () => {
			window.removeEventListener('dragenter', enter);
			window.removeEventListener('dragover', enter);
			window.removeEventListener('dragleave', leave);
			window.removeEventListener('drop', drop);
		};
	}, []);
}

export function DropTarget() {
	useDrop();
	if (!over.value || !mayRun.value) return null;
	return (
		<div class="drop-target">
			<div>
				<div class="card">
					<Icon name="upload" size={40} />
					<h2>Drop a perf.data file</h2>
					<p>
						{session.value
							? `It becomes a run of ${quoted(session.value.title)}.`
							: 'It becomes a run of a new session.'}
					</p>
				</div>
			</div>
		</div>
	);
}

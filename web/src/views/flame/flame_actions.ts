/* Actions on a function, the same in every flame graph. */
import { framesPattern } from '../../logic/flame/flame_frames';
import { go } from '../../state/address';
import type { FlameAction } from './flame_menu';

export function flameActions(name: string, module: string): FlameAction[] {
	return [
		{
			label: 'Who calls it, what it calls',
			run: () => go({ view: 'flame', mode: 'sandwich', function: name, module, focus: null }),
		},
		{
			label: 'Only samples with it',
			run: () => go({ frames: framesPattern(name), focus: null }),
		},
		{ label: 'Mark it everywhere', run: () => go({ search: name }) },
		{
			label: 'Show its code',
			run: () => go({ view: 'flame', annotate: `${name}\n${module}` }),
		},
	];
}

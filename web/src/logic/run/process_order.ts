/* Which processes come first where one is chosen. */
import type { ProcessInfo } from '../../api/types';

export type ProcessOrder = 'new' | 'cpu';

/* The server has no command line for them, only a name in brackets. */
function isKernelThread(p: ProcessInfo): boolean {
	return p.command.startsWith('[') && p.command.endsWith(']');
}

/* @list: newest first. Kernel threads are seldom what one looks for, and run since the machine does. */
export function orderProcesses(list: readonly ProcessInfo[], order: ProcessOrder): ProcessInfo[] {
	return [...list].sort(
		(a, b) =>
			Number(isKernelThread(a)) - Number(isKernelThread(b)) ||
			(order === 'cpu' ? b.cpu_s - a.cpu_s : 0),
	);
}

/* The order in which processes are offered. */
import type { ProcessInfo } from '../../api/types';

export type ProcessOrder = 'new' | 'cpu';

/* For kernel threads the server has no command line, only a name in brackets. */
function isKernelThread(p: ProcessInfo): boolean {
	return p.command.startsWith('[') && p.command.endsWith(']');
}

/* @list: newest first. Kernel threads go last: they are seldom wanted, and run since boot. */
export function orderProcesses(list: readonly ProcessInfo[], order: ProcessOrder): ProcessInfo[] {
	return [...list].sort(
		(a, b) =>
			Number(isKernelThread(a)) - Number(isKernelThread(b)) ||
			(order === 'cpu' ? b.cpu_s - a.cpu_s : 0),
	);
}

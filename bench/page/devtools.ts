/* What only the browser itself knows: the CPU time of its processes, and the memory of JavaScript. */
import { readFileSync } from 'node:fs';
import type { Browser, CDPSession, Page } from 'playwright-core';

/** Of all processes of the browser since it was started. */
export async function cpuSeconds(browser: CDPSession): Promise<number> {
	const { processInfo } = await browser.send('SystemInfo.getProcessInfo');
	return processInfo.reduce((sum, one) => sum + one.cpuTime, 0);
}

/** Resident memory of all processes that run pages. */
export async function rendererBytes(browser: CDPSession): Promise<number> {
	const { processInfo } = await browser.send('SystemInfo.getProcessInfo');
	return processInfo
		.filter((one) => one.type === 'renderer')
		.reduce((sum, one) => {
			const status = readFileSync(`/proc/${one.id}/status`, 'utf8');
			return sum + Number(/VmRSS:\s+(\d+)/.exec(status)![1]) * 1024;
		}, 0);
}

/** Messages to a target that has no page, such as a worker that tabs share. */
class WorkerSession {
	private number = 0;
	private readonly waiting = new Map<number, (result: unknown) => void>();

	private constructor(
		private readonly cdp: CDPSession,
		private readonly id: string,
	) {
		cdp.on('Target.receivedMessageFromTarget', ({ sessionId, message }) => {
			const answer = JSON.parse(message) as { id?: number; result?: unknown };
			if (sessionId === this.id && answer.id) this.waiting.get(answer.id)?.(answer.result);
		});
	}

	static async attach(cdp: CDPSession, targetId: string): Promise<WorkerSession> {
		const { sessionId } = await cdp.send('Target.attachToTarget', { targetId, flatten: false });
		return new WorkerSession(cdp, sessionId);
	}

	async send<T>(method: string): Promise<T> {
		const id = ++this.number;
		const answer = new Promise<T>((done) => this.waiting.set(id, done as (r: unknown) => void));
		const message = JSON.stringify({ id, method });
		await this.cdp.send('Target.sendMessageToTarget', { sessionId: this.id, message });
		return answer;
	}
}

type Ask = (method: 'HeapProfiler.collectGarbage' | 'Runtime.getHeapUsage') => Promise<unknown>;

/** What JavaScript holds after garbage was collected, in @page and in the workers that tabs share. */
export class Heap {
	private constructor(private readonly places: Ask[]) {}

	static async of(browser: Browser, page: Page): Promise<Heap> {
		const own = await page.context().newCDPSession(page);
		await own.send('HeapProfiler.enable');
		const cdp = await browser.newBrowserCDPSession();
		const { targetInfos } = await cdp.send('Target.getTargets');
		const places: Ask[] = [(method) => own.send(method)];
		for (const target of targetInfos.filter((one) => one.type === 'shared_worker')) {
			const worker = await WorkerSession.attach(cdp, target.targetId);
			await worker.send('HeapProfiler.enable');
			places.push((method) => worker.send(method));
		}
		return new Heap(places);
	}

	async bytes(): Promise<number> {
		let sum = 0;
		for (const ask of this.places) {
			await ask('HeapProfiler.collectGarbage');
			sum += ((await ask('Runtime.getHeapUsage')) as { usedSize: number }).usedSize;
		}
		return sum;
	}
}

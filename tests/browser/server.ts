/* The program under test: `tacho serve` on a free port, with a data directory and a home of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from './wait';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const BUILD = join(ROOT, 'build');
export const TACHO = process.env.TACHO ?? join(BUILD, 'tacho');

const START_MS = 120_000;
const STOP_MS = 120_000;

export interface RunFacts {
	uuid: string;
	session: string;
	state: string;
	argv: string[];
	exit_status: number | null;
	samples: number;
	note: string | null;
	tags: string[];
	workload_pid: number | null;
	[more: string]: unknown;
}

export class Server {
	readonly home = mkdtempSync(join(tmpdir(), 'tacho-page-'));
	url = '';
	token = '';
	private port = 0;
	private child: ChildProcess | null = null;
	private said = '';
	private errors = '';

	constructor(private readonly options: string[] = []) {}

	/** The first time on a port that is free, then on the same again. */
	async start(): Promise<this> {
		const listen = `127.0.0.1:${this.port}`;
		const data = join(this.home, 'store');
		this.said = '';
		this.child = spawn(TACHO, ['serve', '--listen', listen, '--data', data, ...this.options], {
			stdio: ['ignore', 'pipe', 'pipe'],
			cwd: this.home,
			env: {
				// So that `tacho demo` is a command that can be typed.
				PATH: `${dirname(TACHO)}:${process.env.PATH}`,
				LANG: 'C.UTF-8',
				HOME: this.home,
				XDG_DATA_HOME: this.home,
				XDG_CONFIG_HOME: this.home,
				XDG_CACHE_HOME: this.home,
			},
		});
		this.child.stdout!.on('data', (text) => (this.said += text));
		this.child.stderr!.on('data', (text) => (this.errors += text));
		const found = await until(
			'the server says its address',
			() => {
				if (this.child!.exitCode !== null)
					throw new Error(`the server ended at once: ${this.errors}`);
				return /(http:\/\/[^:/\s]+:(\d+))\/\?token=([\w-]+)/.exec(this.said);
			},
			START_MS,
		);
		this.url = found[1]!;
		this.port = Number(found[2]);
		this.token = found[3]!;
		await until('the server answers', () => this.healthy(), START_MS);
		return this;
	}

	private async healthy(): Promise<boolean> {
		try {
			return (await fetch(this.url + '/healthz')).ok;
		} catch {
			return false;
		}
	}

	get pid(): number {
		return this.child!.pid!;
	}

	/** As Ctrl-C does; the data stays. */
	async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
		const child = this.child;
		if (!child || child.exitCode !== null || child.signalCode !== null) return;
		const ended = new Promise<void>((done) => child.once('exit', () => done()));
		child.kill(signal);
		const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
		await ended;
		clearTimeout(late);
	}

	async remove(): Promise<void> {
		await this.stop();
		rmSync(this.home, { recursive: true, force: true });
	}

	/** What it wrote to stderr, for messages of failed tests. */
	get stderr(): string {
		return this.errors;
	}

	async answer(path: string, init: RequestInit = {}, token = this.token): Promise<Response> {
		const at = path.startsWith('/') ? path : '/api/v1/' + path;
		const headers = { Authorization: 'Bearer ' + token, ...init.headers };
		return fetch(this.url + at, { ...init, headers });
	}

	async get<T>(path: string): Promise<T> {
		const answer = await this.answer(path);
		if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`);
		return (await answer.json()) as T;
	}

	async post<T>(path: string, body: unknown): Promise<T> {
		const answer = await this.answer(path, { method: 'POST', body: JSON.stringify(body) });
		if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`);
		return (await answer.json()) as T;
	}

	async session(title: string): Promise<string> {
		return (await this.post<{ uuid: string }>('sessions', { title })).uuid;
	}

	async run(session: string, plan: unknown): Promise<RunFacts> {
		return this.post<RunFacts>('session/' + session, plan);
	}

	async facts(run: string): Promise<RunFacts> {
		return this.get<RunFacts>(`benchmark/${run}.json`);
	}

	/** Waits until the run has one of these states. */
	async reaches(run: string, ...states: string[]): Promise<RunFacts> {
		return until(`run ${run} is ${states.join(' or ')}`, async () => {
			const facts = await this.facts(run);
			return states.includes(facts.state) && facts;
		});
	}

	/** Waits until a program has done its work, as long as it is seen to go on. */
	async ends(run: string): Promise<RunFacts> {
		for (let samples = -1; ;) {
			const facts = await until(`run ${run} goes on or ends`, async () => {
				const now = await this.facts(run);
				return (now.state !== 'queued' && now.state !== 'running') || now.samples > samples
					? now
					: null;
			});
			if (facts.state === 'done') return facts;
			if (facts.state !== 'queued' && facts.state !== 'running')
				throw new Error(`run ${run} is ${facts.state}: ${String(facts.error)}`);
			samples = facts.samples;
		}
	}

	/** When the samples of a run that has ended were taken, in nanoseconds and in their order. Windows from one of
	 * them to another have samples, whatever was held up while the run was measured. */
	async sampleTimes(run: string): Promise<number[]> {
		const { t } = await this.get<{ t: number[] }>(`benchmark/${run}/points`);
		return t.sort((a, b) => a - b);
	}

	/** Somebody else, with less rights. */
	async user(name: string, role: 'look' | 'run'): Promise<string> {
		return (await this.post<{ token: string }>('users', { name, role })).token;
	}

	/** A figure of /metrics. */
	async metric(name: string): Promise<number> {
		const text = await (await this.answer('/metrics')).text();
		const line = text.split('\n').find((l) => l.startsWith(name + ' '));
		if (!line) throw new Error(`/metrics has no ${name}`);
		return Number(line.slice(name.length + 1));
	}
}

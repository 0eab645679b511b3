/* What tabs and the hub (the one place of a browser that has a live stream) say to each other. */
import type { Ledger, Run, SessionHead } from './types';
import type { RunUpdate, SavedRun } from '../logic/live/live_run';

/** "queue", "sessions", "session/UUID", "run/UUID": as the server names them. */
export type Topic = string;

export interface Connection {
	state: 'connecting' | 'open' | 'lost';
	/** When lost: how long until the next try, from when this was said. */
	retryMs: number;
}

/** What a tab can listen to. */
export interface LiveEvents {
	connection: Connection;
	/** A run, whenever it has changed. May come twice: by its own topic and by its session's. */
	state: Run;
	/** A run or a session was deleted. */
	removed: { uuid: string };
	queue: { running: string[]; queued: string[] };
	session: SessionHead;
	session_removed: { uuid: string };
	/** Some messages of this topic never came: ask the server anew. */
	missed: { topic: Topic };
	/** Nothing will follow on this topic: its run is over. */
	end: { topic: Topic };
	note: { run: string; text: string };
	/** New data of runs, in its order. */
	updates: RunUpdate[];
	/** All data of a run so far: replaces what the tab has. */
	whole: SavedRun;
}

export type LiveKind = keyof LiveEvents;
export type FromHub =
	| { [K in LiveKind]: { kind: K; data: LiveEvents[K] } }[LiveKind]
	/** The hub does not know this tab (any more): say again what you want. */
	| { kind: 'who'; data: null };

export type FromTab =
	| { say: 'want'; tab: string; topics: Topic[]; shown: boolean }
	| { say: 'alive'; tab: string }
	| { say: 'bye'; tab: string };

/* Messages of the server's stream about the data of a run. */
export interface CountsMessage {
	run: string;
	counters: { id: number; name: string; unit: string; scale: number; cpu: number | null }[];
	t: number[];
	id: number[];
	value: number[];
	duration: number[];
	ppm: number[];
}

export interface SamplesMessage {
	run: string;
	names: [string, string, string][];
	/** parent, name, inlined */
	nodes: [number, number, number][];
	/** event, node, samples, weight */
	gain: [number, number, number, number][];
	events: string[];
	/** Which of them is shown if nobody has named one. */
	event: number;
	to_ns: number;
	/** In a snapshot, whose gain is the sum of all that happened: when it did, the newest of it. */
	rates?: { from_ns: number; step_ns: number; samples: number[][] };
}

export interface OutputMessage {
	run: string;
	stream: 1 | 2;
	text: string;
	left_out?: number;
}

export type LedgerMessage = Ledger & { run: string };

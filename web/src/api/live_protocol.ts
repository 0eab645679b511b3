/* What tabs and the hub (the one place of a browser that has a live stream) say to each other. */
import type { LiveNote, LiveQueue, LiveTopic, LiveUuid, Run, SessionHead } from './types';
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
	removed: LiveUuid;
	queue: LiveQueue;
	session: SessionHead;
	session_removed: LiveUuid;
	/** Some messages of this topic never came: ask the server anew. */
	missed: LiveTopic;
	/** Nothing will follow on this topic: its run is over. */
	end: LiveTopic;
	note: LiveNote;
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

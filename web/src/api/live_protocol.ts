/* Messages between the tabs and the hub, which has the only live stream of a browser. */
import type { LiveNote, LiveQueue, LiveTopic, LiveUuid, Run, SessionHead } from './types';
import type { RunUpdate, SavedRun } from '../logic/live/live_run';

/** "queue", "sessions", "session/UUID", "run/UUID": as the server names them. */
export type Topic = string;

export interface Connection {
	state: 'connecting' | 'open' | 'lost';
	/** When lost: ms until the next try, counted from this message. */
	retryMs: number;
}

/** Messages that a tab can listen to. */
export interface LiveEvents {
	connection: Connection;
	/** A run that has changed. May come twice: on its own topic and on its session's. */
	state: Run;
	/** A run or a session was deleted. */
	removed: LiveUuid;
	queue: LiveQueue;
	session: SessionHead;
	session_removed: LiveUuid;
	/** Messages of this topic were lost: ask the server again. */
	missed: LiveTopic;
	/** The last message of this topic: its run is over. */
	end: LiveTopic;
	note: LiveNote;
	/** New data of runs, in order. */
	updates: RunUpdate[];
	/** All data of a run so far: replaces the tab's data. */
	whole: SavedRun;
}

export type LiveKind = keyof LiveEvents;
export type FromHub =
	| { [K in LiveKind]: { kind: K; data: LiveEvents[K] } }[LiveKind]
	/** The hub does not know this tab (any more): the tab must send "want" again. */
	| { kind: 'who'; data: null };

export type FromTab =
	| { say: 'want'; tab: string; topics: Topic[]; shown: boolean }
	| { say: 'alive'; tab: string }
	| { say: 'bye'; tab: string };

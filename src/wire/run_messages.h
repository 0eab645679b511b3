/*
 * Messages between the collector of a run and the server, in the framing of channel.h, with bodies
 * of up to RUN_MESSAGE_BYTES_MAX. The collector is `tacho collect`, which the server executes with
 * the channel as descriptor 3. An agent on another machine sends the same messages over TLS.
 *
 * Order: the server sends RUN_PLAN. The collector answers RUN_OPENED, or RUN_ENDED with an error.
 * Then come dictionary pieces and chunks (a piece before the chunks that need it), output, ledgers
 * and notes, then RUN_CODE, and RUN_ENDED as the last message. End of file without RUN_ENDED means
 * that the collector has crashed. When the collector reads end of file, the server is gone: the
 * collector ends the workload with all its descendants, and itself.
 */
#ifndef TACHO_WIRE_RUN_MESSAGES_H
#define TACHO_WIRE_RUN_MESSAGES_H

#include "wire/channel.h"

#define RUN_MESSAGE_BYTES_MAX (32u << 20)
#define RUN_CHANNEL_FD        3

enum run_message {
	/* from the collector */
	RUN_OPENED = 128, /* JSON, see below */
	RUN_DICTIONARY,   /* a piece, see profile/dictionary.h */
	RUN_CHUNK,        /* see profile/chunk.h */
	RUN_OUTPUT,       /* u64 time_ns, u32 stream (1 stdout, 2 stderr), bytes */
	RUN_LEDGER, /* JSON, about once a second and at the end; each replaces the one before */
	RUN_NOTE,   /* text: a note for the user */
	RUN_CODE,   /* an annotated function, see profile/code.h */
	RUN_ENDED,  /* JSON */
	/* to the collector */
	RUN_PLAN = 192, /* JSON: {"plan": …, "raw": PATH or absent, "spill": DIR, "spill_bytes",
			 * "output_bytes", "import": PATH of a recording to read instead of running
			 * anything, or absent} */
	RUN_STOP,       /* u32: 0: SIGTERM, then SIGKILL after two seconds; 1: SIGKILL now */
};

/*
 * RUN_OPENED:
 *	{"start_ns": monotonic, "start_wall_ns": realtime at the same moment, "clock": "monotonic"
 *	 or the clock of an imported file, "pid": of the workload or 0,
 *	 "events": [{"name", "counted": bool, "sampled": bool, "type", "config", "period", "frequency",
 *		     "supported": bool, "problem": sentence or null}],
 *	 "environment": {"host", "kernel", "machine", "cpu", "cpus_online", "memory_bytes", "distribution",
 *			 "tacho", "governor", "perf_event_paranoid", …}}
 * RUN_LEDGER:
 *	{"samples", "lost", "throttled", "intervals", "intervals_missed", "interval_stretched_ns",
 *	 "interval_worst_late_ns", "multiplexed": [{"event", "running_ppm"}],
 *	 "behind_ns": age of the newest data sent, "dropped", "collector_cpu_ns": all its processes,
 *	 "spilled_bytes", "waiting_bytes", "output_dropped_bytes", "cut_stacks",
 *	 "done_part": 0 to 1, of an import}
 * RUN_ENDED:
 *	{"status": exit status (126 or 127 with exec_failed, as in a shell) or null,
 *	 "signal": number or null, "timed_out": bool, "stopped": bool, "exec_failed": bool,
 *	 "error": sentence or null, "end_ns": monotonic}
 */

#endif

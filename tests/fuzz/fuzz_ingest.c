/*
 * A collector that lies: frames and messages as the input says go through a channel to the server, which stores
 * them, tells watchers of them, and answers every question about the run.
 *
 * The input is a list of pieces, each a byte that chooses what is sent: bytes as they are, in no frame; a message
 * of any type and body; or a message that a collector would send, changed below its hash.
 */
#include "../unit/support.h"
#include "base/clock.h"
#include "base/number.h"
#include "bus/bus.h"
#include "query/run_cache.h"
#include "runs/internal.h"
#include "runs/live/live.h"
#include "wire/run_messages.h"
#include "packed_change.h"
#include "store_ask.h"
#include "store_seed.h"

#include <limits.h>
#include <poll.h>
#include <sys/socket.h>

#define PIECES_MAX   24
#define RESTART_RUNS 200 /* a new store now and then: an old one gets slower */
#define BODY_MAX     4096u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bodies of messages that a collector sends, by type. */
struct sample_message {
	uint16_t type;
	struct buf body;
};

static VEC(struct sample_message) samples;
static char directory[300];
static struct server server;
static struct store *store;
static struct stored_session session;
static unsigned runs_made;

/* ---- what a collector sends ---- */

static void add_sample(uint16_t type, const void *bytes, size_t size)
{
	struct sample_message m = {.type = type};

	buf_add_mem(&m.body, bytes, size);
	vec_push(&samples, m);
}

static int add_chunk(void *ctx, const struct buf *bytes, const struct chunk_info *info)
{
	(void)ctx;
	(void)info;
	add_sample(RUN_CHUNK, bytes->s, bytes->len);
	return 0;
}

/* What the seed's store has of a run is what its collector has sent. */
static int add_piece(void *ctx, int64_t number, const void *bytes, size_t size)
{
	(void)ctx;
	(void)number;
	add_sample(RUN_DICTIONARY, bytes, size);
	return 0;
}

static void make_samples(void)
{
	static const char opened[] =
		"{\"start_ns\": 1000000000000, \"start_wall_ns\": 1700000000000000000, \"clock\": "
		"\"monotonic\", \"pid\": 5, \"events\": [{\"name\": \"cpu-clock\", \"sampled\": "
		"true}]}";
	static const char ledger[] = "{\"samples\": 300, \"lost\": 2, \"done_part\": 0.5}";
	static const char ended[] = "{\"status\": 0, \"end_ns\": 1000300000000}";
	char seed_directory[320], uuid[UUID_BYTES];
	struct stored_run run = {};
	stored_chunks chunks = {};
	struct store *from = NULL;
	struct buf code = {};

	snprintf(seed_directory, sizeof(seed_directory), "%s/seed", support_dir);
	seed_make(seed_directory, uuid);
	add_sample(RUN_OPENED, opened, sizeof(opened) - 1);
	SEED_OK(store_open(&from, &(struct store_options){.directory = seed_directory}, &e));
	SEED_OK(store_run_get(from, seed_uuids[0], &run, &e));
	SEED_OK(store_dictionary_each(from, run.id, 0, 0, add_piece, NULL, &e));
	SEED_OK(store_chunks(from, run.id, &(struct chunk_query){}, &chunks, &e));
	vec_each(&chunks, c) {
		CLEANUP(buf_release) struct buf bytes = {};

		SEED_OK(store_chunk_read(from, c, &bytes, NULL, &e));
		add_chunk(NULL, &bytes, NULL);
	}
	SEED_OK(store_code_get(from, run.id, 0, 1, &code, &e));
	add_sample(RUN_CODE, code.s, code.len);
	add_sample(RUN_OUTPUT, "\1\0\0\0\0\0\0\0\1\0\0\0text\n", 17);
	add_sample(RUN_LEDGER, ledger, sizeof(ledger) - 1);
	add_sample(RUN_NOTE, "a note", 6);
	add_sample(RUN_ENDED, ended, sizeof(ended) - 1);
	buf_release(&code);
	vec_release(&chunks);
	stored_run_release(&run);
	store_close(from);
}

static void add_frame(struct buf *out, uint16_t type, const struct buf *body)
{
	body_u32(out, (uint32_t)body->len);
	body_u16(out, type);
	body_u16(out, 0);
	buf_add_mem(out, buf_str(body), body->len);
}

static void take_bytes(struct cursor *in, struct buf *ret)
{
	size_t size = cursor_u16(in) % BODY_MAX, left = in->size - in->at;

	size = size < left ? size : left;
	buf_add_mem(ret, in->data + in->at, size);
	cursor_skip(in, size);
}

static void add_piece_of_input(struct buf *out, struct cursor *in)
{
	CLEANUP(buf_release) struct buf body = {};
	uint8_t kind = cursor_u8(in);
	const struct sample_message *m = &samples.items[cursor_u8(in) % samples.len];

	switch (kind % 8) {
	case 0: /* no frame */
		take_bytes(in, out);
		return;
	case 1: /* any message */
		take_bytes(in, &body);
		add_frame(out, (uint16_t)(m->type + kind / 64), &body);
		return;
	case 2: /* one of a collector's, changed above the hash */
		buf_add_mem(&body, m->body.s, m->body.len);
		flip((uint8_t *)body.s, body.len, in);
		break;
	case 3:
	case 4: /* below it */
		buf_add_mem(&body, m->body.s, m->body.len);
		if (!reseal(&body, in))
			flip((uint8_t *)body.s, body.len, in);
		break;
	default:
		buf_add_mem(&body, m->body.s, m->body.len);
	}
	add_frame(out, m->type, &body);
}

/* ---- the server ---- */

/* The writer works in a thread of its own; each deposit is waited for. */
static void settle(struct active *a)
{
	struct runs *r = server.host.runs;
	uint64_t woken;

	ingest_flush(a);
	while (a->depositing) {
		struct pollfd p = {r->wake_fd, POLLIN, 0};

		poll(&p, 1, -1);
		if (read(r->wake_fd, &woken, sizeof(woken)) < 0 && errno != EAGAIN)
			abort();
		writer_collect(r);
	}
}

static void receive(struct active *a, int fd, const struct buf *bytes)
{
	size_t at = 0;

	/* A channel that has ended takes nothing any more. */
	for (int idle = 0; at < bytes->len && idle < 3;) {
		ssize_t n = send(fd, bytes->s + at, bytes->len - at, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno != EAGAIN)
			break;
		idle = n > 0 ? 0 : idle + 1;
		at += n > 0 ? (size_t)n : 0;
		ingest_channel(a);
		settle(a);
	}
	close(fd);
	ingest_channel(a);
	settle(a);
	if (!a->over) {
		ingest_over(a, STATE_FAILED, "The collector has ended.");
		settle(a);
	}
}

static struct active *begin_run(int *ret_fd)
{
	struct active *a = xcalloc(1, sizeof(*a));
	struct stored_run run = {.session_id = session.id,
				 .state = STATE_RUNNING,
				 .command = (char *)"x",
				 .plan = (char *)"{}",
				 .tags = (char *)"[]"};
	int fds[2];

	SEED_OK(store_run_add(store, &run, &e));
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		abort();
	*ret_fd = fds[1];
	/* A process that cannot be: it is killed when it sends nonsense. */
	*a = (struct active){.runs = server.host.runs, .pid = INT_MAX, .pid_fd = -1};
	SEED_OK(store_run_get(store, run.uuid, &a->run, &e));
	channel_init(&a->channel, fds[0]);
	a->channel.body_max = RUN_MESSAGE_BYTES_MAX;
	a->streaming = true;
	return a;
}

static void end_run(struct active *a)
{
	struct api api = {&server, store};
	bool more = true;
	char uuid[UUID_BYTES];
	int64_t id = a->run.id;

	memcpy(uuid, a->run.uuid, sizeof(uuid));
	if (a->live)
		live_run_end(a->live);
	a->live = NULL;
	active_free(a);
	server.cache = run_cache_new(0);
	ask_all_of(&api, &(struct asked){{uuid, uuid}, session.uuid});
	run_cache_free(server.cache);
	SEED_OK(store_run_delete(store, id, &e));
	while (more)
		SEED_OK(store_purge(store, 0, 1 << 20, &more, &e));
}

static void stop_server(void)
{
	runs_stop(server.host.runs);
	live_free(server.host.live);
	bus_free(server.host.bus);
	store_close(store);
	stored_session_release(&session);
	server.host.runs = NULL;
	remove_tree(directory);
}

static void start_server(void)
{
	snprintf(directory, sizeof(directory), "%s/data", support_dir);
	server = (struct server){.config.data = directory, .lock_fd = -1};
	server.host.settings.data = directory;
	server.host.settings.output_bytes = 1 << 20;
	server.host.clock = &system_clock;
	SEED_OK(store_open(&store, &(struct store_options){.directory = directory}, &e));
	SEED_OK(store_session_add(store, "s", &session, &e));
	server.host.bus = bus_new(&system_clock);
	server.host.live = live_new(&server.host);
	SEED_OK(runs_prepare(&server.host.runs, &server.host, &e));
	SEED_OK(writer_begin(server.host.runs, &e));
}

static void leave(void)
{
	stop_server();
	vec_each(&samples, m)
		buf_release(&m->body);
	vec_release(&samples);
	remove_support_dir(NULL);
}

static void begin(void)
{
	/* In memory, if there is such a place: nothing here is about disks. */
	if (!access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 0);
	if (make_support_dir(NULL))
		abort();
	make_samples();
	start_server();
	atexit(leave);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(buf_release) struct buf bytes = {};
	struct cursor in = little_cursor(data, size);
	struct active *a;
	int fd;

	if (!samples.len)
		begin();
	if (++runs_made % RESTART_RUNS == 0) {
		stop_server();
		start_server();
	}
	for (int i = 0; i < PIECES_MAX && in.at < in.size && !in.failed; i++)
		add_piece_of_input(&bytes, &in);
	a = begin_run(&fd);
	receive(a, fd, &bytes);
	end_run(a);
	return 0;
}

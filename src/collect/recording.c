#include "collect/recording.h"
#include "collect/tree.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct recording {
	const struct recording_plan *plan;
	struct record_summary summary;
	struct channel channel;
	pid_t collector;
	int signals_fd;
	sigset_t before;
	unsigned stops; /* how often the user asked to stop */
	bool finished;  /* MESSAGE_FINISHED came */
	struct err error;
};

/* ---- requests of the user ---- */

static void send_stop(struct recording *s, uint32_t signal, uint16_t flags)
{
	CLEANUP(buf_release) struct buf body = {};

	body_u32(&body, signal);
	channel_send(&s->channel, MESSAGE_STOP, flags, &body);
}

/* With @now, STOP_NOW ends the workload with its descendants, and no signal is sent: it would end
 * only the workload, which would look as if it had ended by itself, and its descendants would be
 * left running. */
void recording_stop(struct recording *s, bool now)
{
	send_stop(s, now ? 0 : SIGTERM, now ? STOP_NOW : 0);
}

void recording_kill(struct recording *s)
{
	send_stop(s, 0, STOP_NOW | STOP_KILL);
}

/* Ctrl-C (SI_KERNEL) reaches the workload by itself; a signal sent to us alone is passed on. */
static void handle_signal(struct recording *s)
{
	struct signalfd_siginfo info;

	while (read(s->signals_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			tree_reap(s->collector);
		} else if (info.ssi_signo == SIGUSR2) {
			channel_send(&s->channel, MESSAGE_SNAPSHOT, 0, NULL);
		} else {
			/* When the terminal closes, the kernel tells only the session's leader. */
			bool key = info.ssi_code == SI_KERNEL && info.ssi_signo != SIGHUP;

			s->stops++;
			if (s->plan->stop_now)
				recording_stop(s, true);
			else
				send_stop(s, key ? 0 : info.ssi_signo, s->stops > 1 ? STOP_NOW : 0);
			/* The collector does not react: it may wait for an unread pipe. */
			if (s->stops > 2)
				kill(s->collector, SIGKILL);
		}
	}
}

/* ---- messages from the collector ---- */

static void take_error(struct recording *s, struct cursor *body)
{
	int code = (int)cursor_u32(body);
	CLEANUP(free_ptr) char *text = body->failed ? NULL : text_get(body);

	/* The first error is the cause of the others. */
	if (!text || s->error.code)
		return;
	err_set(&s->error, code ? code : EIO, "%s", text);
	if (s->plan->on_error)
		s->plan->on_error(s->plan->ctx, &s->error);
}

static void take_started(struct recording *s, struct cursor *body)
{
	uint32_t events = cursor_u32(body), rings = cursor_u32(body);
	uint64_t bytes = cursor_u64(body);

	if (!body->failed && s->plan->on_started)
		s->plan->on_started(s->plan->ctx, events, rings, bytes);
}

static void take_opened(struct recording *s, struct cursor *body)
{
	struct recording_opened opened = {.start_ns = cursor_u64(body),
					  .wall_ns = cursor_u64(body),
					  .workload = (pid_t)cursor_u32(body)};
	CLEANUP(free_ptr) char *text = body->failed ? NULL : text_get(body);

	opened.events = text;
	if (text && s->plan->on_opened)
		s->plan->on_opened(s->plan->ctx, &opened);
}

static void handle_message(struct recording *s, struct message *m)
{
	const struct recording_plan *plan = s->plan;
	CLEANUP(free_ptr) char *text = NULL;
	struct record_counts counts;

	switch (m->type) {
	case MESSAGE_STARTED:
		take_started(s, &m->body);
		break;
	case MESSAGE_OPENED:
		take_opened(s, &m->body);
		break;
	case MESSAGE_PROGRESS:
		if (counts_get(&m->body, &counts) && plan->on_progress)
			plan->on_progress(plan->ctx, &counts);
		break;
	case MESSAGE_NOTE:
		text = text_get(&m->body);
		plan->on_note(plan->ctx, text);
		break;
	case MESSAGE_SWITCHED:
		text = text_get(&m->body);
		plan->on_switched(plan->ctx, text);
		break;
	case MESSAGE_ERROR:
		take_error(s, &m->body);
		break;
	case MESSAGE_FINISHED:
		s->finished = summary_get(&m->body, &s->summary);
		if (s->finished && !s->error.code && plan->on_finished)
			plan->on_finished(plan->ctx, &s->summary);
		break;
	default:
		break; /* from a later version */
	}
}

void recording_fds(const struct recording *s, struct pollfd fds[RECORDING_FDS])
{
	short out = s->channel.out.len ? POLLOUT : 0;

	fds[0] = (struct pollfd){.fd = s->channel.fd, .events = (short)(POLLIN | out)};
	fds[1] = (struct pollfd){.fd = s->signals_fd, .events = POLLIN};
}

/* Returns false once the collector has closed its end. */
bool recording_turn(struct recording *s)
{
	struct message m;
	int r;

	handle_signal(s);
	channel_flush(&s->channel);
	while ((r = channel_receive(&s->channel, &m)) > 0)
		handle_message(s, &m);
	return r >= 0;
}

void recording_snapshot(struct recording *s)
{
	channel_send(&s->channel, MESSAGE_SNAPSHOT, 0, NULL);
}

unsigned recording_stops(const struct recording *s)
{
	return s->stops;
}

pid_t recording_collector(const struct recording *s)
{
	return s->collector;
}

/* ---- the collector process ---- */

static int open_signals(struct recording *s, struct err *e)
{
	struct sigaction hangup;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGCHLD);
	/* Leave an ignored SIGHUP (nohup) alone: if it were blocked, signalfd would report it. */
	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, &s->before);
	s->signals_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals_fd < 0)
		return err_set(e, errno, "cannot wait for signals: %s", strerror(errno));
	return 0;
}

static int fork_collector(struct recording *s, struct err *e)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return err_set(e, errno, "cannot make a socket: %s", strerror(errno));
	s->collector = fork();
	if (s->collector == 0) {
		close(fds[0]);
		close(s->signals_fd);
		for (size_t i = 0; i < s->plan->starter_fd_count; i++)
			close(s->plan->starter_fds[i]);
		_exit(collector_main(s->plan, fds[1]));
	}
	close(fds[1]);
	channel_init(&s->channel, fds[0]);
	s->channel.body_max = RECORDING_BODY_MAX;
	if (s->collector < 0)
		return err_set(e, errno, "cannot start a process: %s", strerror(errno));
	return 0;
}

/* Waits for the collector, which has closed its end of the channel, and checks how it ended. */
static int bury_collector(struct recording *s, struct err *e)
{
	int status = 0;

	while (waitpid(s->collector, &status, 0) < 0 && errno == EINTR)
		;
	if (s->finished)
		return 0;
	/* Its descendants are our children now (tree_adopt()). */
	tree_end(getpid(), false, 0);
	tree_reap(0);
	if (WIFSIGNALED(status) && s->plan->output.kind == SINK_LIVE)
		return err_set(e, EPIPE, "the collector was ended by signal %d (%s)",
			       WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (WIFSIGNALED(status))
		return err_set(e, EPIPE,
			       "the collector was ended by signal %d (%s); '%s' can be read up to "
			       "what was written last",
			       WTERMSIG(status), strsignal(WTERMSIG(status)),
			       s->plan->output.writer.path);
	return err_set(e, EPIPE, "the collector ended too early (status %d)", WEXITSTATUS(status));
}

static void free_recording(struct recording *s)
{
	channel_release(&s->channel);
	if (s->signals_fd >= 0)
		close(s->signals_fd);
	free(s);
}

static void listen_to(struct recording *s)
{
	struct pollfd fds[RECORDING_FDS];

	do
		recording_fds(s, fds);
	while ((poll(fds, RECORDING_FDS, -1) >= 0 || errno == EINTR) && recording_turn(s));
}

int recording_start(struct recording **ret, const struct recording_plan *plan, struct err *e)
{
	struct recording *s = xcalloc(1, sizeof(*s));
	int r;

	*s = (struct recording){.plan = plan, .signals_fd = -1, .channel = {.fd = -1}};
	r = open_signals(s, e);
	tree_adopt();
	if (r == 0)
		r = fork_collector(s, e);
	if (r < 0) {
		free_recording(s);
		return r;
	}
	*ret = s;
	return 0;
}

int recording_finish(struct recording *s, struct record_summary *ret, struct err *e)
{
	int r;

	listen_to(s);
	r = bury_collector(s, e);
	*ret = s->summary;
	if (s->error.code) {
		if (e)
			*e = s->error;
		r = -s->error.code;
	}
	free_recording(s);
	return r;
}

int recording_run(const struct recording_plan *plan, struct record_summary *ret, struct err *e)
{
	struct recording *s;
	int r = recording_start(&s, plan, e);

	*ret = (struct record_summary){};
	return r < 0 ? r : recording_finish(s, ret, e);
}

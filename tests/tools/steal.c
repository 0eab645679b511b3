/*
 * Takes every CPU away from everybody else in bursts of random length, as a noisy neighbour does:
 *
 *	steal [-s SECONDS] [-p PERCENT] [-b BURST_MS] [-r SEED] [COMMAND [ARGUMENT...]]
 *
 * One process a CPU computes at real-time priority for PERCENT of the time (40), in bursts of up to BURST_MS
 * (250). It ends after SECONDS, or with COMMAND, whose exit status it passes on, or with the process that started
 * it. The same SEED (1) gives the same bursts. Needs root; without it, COMMAND is not run.
 *
 *	build/tests/steal tests/e2e/run test_runs
 */
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CPUS_MAX  1024
#define NS_A_MSEC 1000000ull
#define NS_A_SEC  1000000000ull

struct settings {
	uint64_t seconds; /* 0: until the command ends */
	uint64_t percent, burst_ms, seed;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_A_SEC + (uint64_t)ts.tv_nsec;
}

/* xorshift64*: the same numbers everywhere. */
static uint64_t random_below(uint64_t *state, uint64_t limit)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (*state * 0x2545f4914f6cdd1dull >> 11) % limit;
}

static void rest(uint64_t ns)
{
	struct timespec ts = {.tv_sec = (time_t)(ns / NS_A_SEC), .tv_nsec = (long)(ns % NS_A_SEC)};

	nanosleep(&ts, NULL);
}

/* Ends with @parent. */
static void steal_cpu(const struct settings *s, int cpu, pid_t parent)
{
	uint64_t state = s->seed * 0x9e3779b97f4a7c15ull + (uint64_t)cpu + 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent) {
		uint64_t burst_ns = (1 + random_below(&state, s->burst_ms)) * NS_A_MSEC;
		uint64_t end_ns = now_ns() + burst_ns;

		while (now_ns() < end_ns)
			;
		/* The part that is left to others, half as long up to one and a half times as long. */
		rest(burst_ns * (100 - s->percent) / s->percent * (50 + random_below(&state, 101)) /
		     100);
	}
}

/* Ends the program if it fails: as a pid, -1 would be every process of the machine. */
static pid_t checked_fork(void)
{
	pid_t pid = fork();

	if (pid >= 0)
		return pid;
	fprintf(stderr, "steal: cannot fork: %s\n", strerror(errno));
	exit(125);
}

/* CPU and priority are set here, not by the thief itself: so all thieves are ready before the command starts. */
static pid_t start_thief(const struct settings *s, int cpu)
{
	struct sched_param priority = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
	pid_t parent = getpid(), pid = checked_fork();
	cpu_set_t set;

	if (!pid) {
		steal_cpu(s, cpu, parent);
		_exit(0);
	}
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (!sched_setaffinity(pid, sizeof(set), &set) &&
	    !sched_setscheduler(pid, SCHED_FIFO, &priority))
		return pid;
	fprintf(stderr, "steal: cannot take CPU %d at real-time priority: %s\n", cpu,
		strerror(errno));
	exit(125);
}

static pid_t start_command(char **argv)
{
	pid_t pid = checked_fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execvp(argv[0], argv);
	fprintf(stderr, "steal: cannot run '%s': %s\n", argv[0], strerror(errno));
	_exit(127);
}

static void end_thieves(const pid_t *thieves, int count)
{
	for (int i = 0; i < count; i++)
		kill(thieves[i], SIGKILL);
	for (int i = 0; i < count; i++)
		waitpid(thieves[i], NULL, 0);
}

/* Fails if a thief was killed: from then on the command would run undisturbed. */
static void check_thieves(const pid_t *thieves, int count)
{
	for (int i = 0; i < count; i++) {
		siginfo_t info = {};

		waitid(P_PID, (id_t)thieves[i], &info, WEXITED | WNOHANG | WNOWAIT);
		if (!info.si_pid)
			continue;
		fprintf(stderr, "steal: somebody has ended process %d, which took a CPU away\n",
			thieves[i]);
		exit(125);
	}
}

static int exit_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Returns when the command has ended: its exit status, or 0 if there is none. When the time is over, the
 * thieves end, and the command goes on undisturbed. */
static int wait_for_end(const struct settings *s, pid_t command, const pid_t *thieves, int count)
{
	uint64_t end_ns = now_ns() + s->seconds * NS_A_SEC;
	int status = 0;

	while (!s->seconds || now_ns() < end_ns) {
		if (command && waitpid(command, &status, WNOHANG) == command) {
			end_thieves(thieves, count);
			return exit_status(status);
		}
		check_thieves(thieves, count);
		rest(20 * NS_A_MSEC);
	}
	end_thieves(thieves, count);
	if (command)
		waitpid(command, &status, 0);
	return exit_status(status);
}

static int usage(void)
{
	fputs("usage: steal [-s SECONDS] [-p PERCENT] [-b BURST_MS] [-r SEED] [COMMAND...]\n",
	      stderr);
	return 2;
}

static bool read_number(const char *text, uint64_t least, uint64_t most, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	return *text && !*end && !errno && *ret >= least && *ret <= most;
}

static bool read_settings(int argc, char **argv, struct settings *s)
{
	bool good = true;
	int option;

	while ((option = getopt(argc, argv, "+s:p:b:r:")) != -1)
		switch (option) {
		case 's':
			good &= read_number(optarg, 1, 1000000, &s->seconds);
			break;
		/* Linux itself takes a real-time task off its CPU at 95 % of a second. */
		case 'p':
			good &= read_number(optarg, 1, 90, &s->percent);
			break;
		case 'b':
			good &= read_number(optarg, 1, 900, &s->burst_ms);
			break;
		case 'r':
			good &= read_number(optarg, 0, UINT32_MAX, &s->seed);
			break;
		default:
			return false;
		}
	return good;
}

int main(int argc, char **argv)
{
	struct settings s = {.percent = 40, .burst_ms = 250, .seed = 1};
	pid_t thieves[CPUS_MAX], command = 0, parent = getppid();
	cpu_set_t allowed;
	int count = 0;

	if (!read_settings(argc, argv, &s))
		return usage();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || sched_getaffinity(0, sizeof(allowed), &allowed))
		return 125;
	for (int cpu = 0; cpu < CPU_SETSIZE && count < CPUS_MAX; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			thieves[count++] = start_thief(&s, cpu);
	if (optind < argc)
		command = start_command(argv + optind);
	return wait_for_end(&s, command, thieves, count);
}

/*
 * A program of known shape: what it does is counted in units of the same work, so that shares of CPU
 * time are known whatever the machine. Functions that must be seen are not inlined, except for one.
 *
 *	shape PLUGIN SEVENTY THIRTY	units of two functions, and two of everything else
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEEN extern "C" __attribute__((noinline))

/* A CPU that others use as well is slower at some times than at others: the work comes in many small
 * rounds, so that all functions have the same part of both. */
static const int rounds = 40;
static long unit = 500000;
static const int depth = 8;
static volatile unsigned long result;

/* A function that calls none would need no frame, and gets none, whatever the compiler is told. */
SEEN void note(unsigned long x)
{
	result = x;
}

/* A macro, because even an inlined function would be one in the stacks. Each step needs the last. */
#define SPIN(units)                                                                                \
	do {                                                                                       \
		unsigned long x = result;                                                          \
		for (long left = (units) * unit; left; left--) {                                   \
			x = x * 6364136223846793005ul + 1442695040888963407ul;                     \
			__asm__ volatile("" : "+r"(x));                                            \
		}                                                                                  \
		note(x);                                                                           \
	} while (0)

SEEN void seventy(long units)
{
	SPIN(units);
}

SEEN void thirty(long units)
{
	SPIN(units);
}

SEEN unsigned long recursion(int level)
{
	if (!level) {
		SPIN(2);
		return result;
	}
	/* Something is left to do, or it would be a jump. */
	return recursion(level - 1) + (unsigned long)level + result;
}

SEEN void on_signal(int)
{
	SPIN(2);
}

/* Sends the signal by itself, without the C library's functions that keep no frame pointer. */
SEEN void interrupted()
{
	result = result + (unsigned long)syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
	result = result + 1;
}

SEEN void forked_work()
{
	SPIN(2);
}

SEEN void executed_work()
{
	SPIN(2);
}

SEEN void *threaded_work(void *arg)
{
	pthread_setname_np(pthread_self(), "shape_thread");
	SPIN(2);
	return arg;
}

__attribute__((always_inline)) static inline void inlined_work()
{
	SPIN(2);
}

SEEN void with_inline()
{
	inlined_work();
	result = result + 1;
}

template <typename T> __attribute__((noinline)) void churn(T units)
{
	SPIN(static_cast<long>(units));
}

static void wait_for(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child || status)
		_exit(3);
}

SEEN void children(const char *self)
{
	pid_t child = fork();

	if (!child) {
		forked_work();
		_exit(0);
	}
	wait_for(child);
	child = fork();
	if (!child) {
		execl(self, "shape_exec", "exec", static_cast<char *>(nullptr));
		_exit(4);
	}
	wait_for(child);
}

SEEN void plugin(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW);
	auto work = handle ? reinterpret_cast<unsigned long (*)(long)>(dlsym(handle, "plugin_work"))
			   : nullptr;

	if (!work) {
		fprintf(stderr, "%s\n", dlerror());
		_exit(5);
	}
	result = result + work(2 * unit);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc == 2 && !strcmp(argv[1], "exec")) {
		unit *= rounds;
		executed_work();
		return 0;
	}
	if (argc != 4)
		return 2;
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < rounds; i++) {
		seventy(atol(argv[2]));
		thirty(atol(argv[3]));
		result = recursion(depth);
		interrupted();
		with_inline();
		churn<int>(2);
		churn<double>(2);
		plugin(argv[1]);
	}
	/* Only once, so that each is one process or thread. */
	unit *= rounds;
	pthread_create(&thread, nullptr, threaded_work, nullptr);
	pthread_join(thread, nullptr);
	children("/proc/self/exe");
	return 0;
}

/*
 * Sampling by overflow of the cycle counter, straight on the kernel's interface, with no tacho
 * in between: `overflow PERIOD INSTRUCTIONS` samples cycles:u every PERIOD cycles around a loop
 * of known length and prints, one `name value` a line, what it counted and what it sampled.
 *
 * A counter that starts at zero and interrupts every PERIOD cycles gives exactly
 * cycles / PERIOD samples. The case that runs this compares the numbers; this program fails
 * only if the kernel refuses something.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Eight nops, the subtraction and the branch. */
#define TURN_INSTRUCTIONS 10

/* A power of two. With 16 byte samples this holds 64 Ki of them, more than any case asks for. */
#define RING_BYTES (1024 * 1024)

struct tally {
	uint64_t samples;
	uint64_t lost;
	uint64_t throttled;
	uint64_t other;
};

static void die(const char *what)
{
	fprintf(stderr, "overflow: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void run_loop(uint64_t turns)
{
	__asm__ volatile("1:	nop; nop; nop; nop; nop; nop; nop; nop\n"
			 "	subs	%0, %0, #1\n"
			 "	b.ne	1b\n"
			 : "+r"(turns)
			 :
			 : "cc");
}

static int open_cycles(uint64_t period)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = period,
		.sample_type = PERF_SAMPLE_IP,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		die("perf_event_open cycles:u");
	return fd;
}

/* The records are multiples of eight bytes in a ring of pages, so a header never wraps. */
static struct tally count_records(const struct perf_event_mmap_page *page, const char *data)
{
	struct tally tally = {0};
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);

	for (uint64_t at = page->data_tail; at < head;) {
		struct perf_event_header header;

		memcpy(&header, data + at % RING_BYTES, sizeof(header));
		if (header.size < sizeof(header)) {
			errno = EPROTO;
			die("record without a size");
		}
		if (header.type == PERF_RECORD_SAMPLE) {
			tally.samples++;
		} else if (header.type == PERF_RECORD_LOST) {
			uint64_t lost;

			/* After the header: id, then how many. */
			memcpy(&lost, data + (at + sizeof(header) + 8) % RING_BYTES, sizeof(lost));
			tally.lost += lost;
		} else if (header.type == PERF_RECORD_THROTTLE) {
			tally.throttled++;
		} else {
			tally.other++;
		}
		at += header.size;
	}
	return tally;
}

int main(int argc, char **argv)
{
	uint64_t period = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
	uint64_t turns = argc > 2 ? strtoull(argv[2], NULL, 0) / TURN_INSTRUCTIONS : 0;
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t cycles;

	if (period == 0 || turns == 0) {
		fprintf(stderr, "usage: overflow PERIOD INSTRUCTIONS\n");
		return 2;
	}

	int fd = open_cycles(period);
	char *map = mmap(NULL, page_bytes + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		die("mmap of the ring");
	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		die("enabling the counter");
	run_loop(turns);
	if (ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) < 0)
		die("disabling the counter");
	if (read(fd, &cycles, sizeof(cycles)) != (ssize_t)sizeof(cycles))
		die("reading the counter");

	struct tally tally = count_records((const void *)map, map + page_bytes);

	printf("instructions %" PRIu64 "\n", turns * TURN_INSTRUCTIONS);
	printf("cycles %" PRIu64 "\n", cycles);
	printf("period %" PRIu64 "\n", period);
	printf("samples %" PRIu64 "\n", tally.samples);
	printf("lost %" PRIu64 "\n", tally.lost);
	printf("throttled %" PRIu64 "\n", tally.throttled);
	printf("other %" PRIu64 "\n", tally.other);
	return 0;
}

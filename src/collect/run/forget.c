/* Frees memory during a run, which may last for days. */
#include "base/clock.h"
#include "collect/run/feed.h"

/* How often unused symbols are freed; the shorter pause is for when far too many are loaded, as
 * when many programs are started at once. */
#define PAUSE_NS       (5 * NS_PER_SEC)
#define SHORT_PAUSE_NS NS_PER_SEC
/* Limits of symbols, lines and sections in memory, and of open files. What is freed is read again
 * when it is needed. */
#define SYMBOL_BYTES_MAX (48ull << 20)
#define SYMBOL_FILES_MAX 256

/* Stacks are forgotten when this many have been sent: 512 KiB. */
#define STACKS_SENT_MAX (64u << 10)

/* Without frame pointers new stacks keep coming. The server has them: only the numbers of frequent
 * ones are needed here. */
static void forget_stacks(struct run_feed *f)
{
	if (f->profile.stacks.len < STACKS_SENT_MAX ||
	    f->dictionary.stacks != profile_stacks_end(&f->profile))
		return;
	profile_forget_stacks(&f->profile);
	resolver_forget_stacks(&f->analysis.resolver);
	resolver_forget_frames(&f->analysis.resolver);
}

void feed_forget(struct run_feed *f, uint64_t now_ns)
{
	bool much = modules_loaded_bytes(f->modules) > 2 * SYMBOL_BYTES_MAX;

	analysis_forget(&f->analysis, f->record_ns);
	forget_stacks(f);
	if (now_ns < f->forgot_ns + (much ? SHORT_PAUSE_NS : PAUSE_NS))
		return;
	f->forgot_ns = now_ns;
	modules_let_go(f->modules, SYMBOL_BYTES_MAX, SYMBOL_FILES_MAX);
	alloc_give_back();
}

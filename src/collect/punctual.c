#include "collect/punctual.h"
#include "base/caps.h"

#include <sys/prctl.h>
#include <sys/resource.h>

void be_punctual(struct punctual *p)
{
	struct sched_param first = {.sched_priority = 1};

	p->changed = true;
	p->policy = sched_getscheduler(0);
	p->nice = getpriority(PRIO_PROCESS, 0);
	sched_getparam(0, &p->priority);
	prctl(PR_SET_TIMERSLACK, 1);
	if (p->priority.sched_priority)
		return; /* keep the priority that the user chose */
	caps_raise();
	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first))
		setpriority(PRIO_PROCESS, 0, -10);
	caps_lower();
}

void be_ordinary(const struct punctual *p)
{
	if (!p->changed || p->policy < 0)
		return;
	prctl(PR_SET_TIMERSLACK, 0);
	sched_setscheduler(0, p->policy, &p->priority);
	setpriority(PRIO_PROCESS, 0, p->nice);
}

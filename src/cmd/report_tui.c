#include "cmd/report.h"
int report_show_tui(struct report_view *v, struct err *e)
{
	(void)v;
	(void)e;
	return 0;
}

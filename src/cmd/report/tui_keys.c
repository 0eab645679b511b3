/* Carries out the browser's keys. */
#include "cmd/command.h"
#include "cmd/report/tui.h"
#include "cmd/terminal/screen.h"

#include <string.h>

static const struct tui_line *current(const struct tui *t)
{
	return t->cursor < t->lines.len ? &t->lines.items[t->cursor] : NULL;
}

/* Returns the function of the line at the cursor. */
static function_id function_at(const struct tui *t)
{
	const struct tui_line *line = current(t);
	const struct report *r = &t->view->report;

	if (line->node)
		return t->opened[line->entry]->chains.nodes.items[line->node].function;
	return r->places.items[r->entries.items[line->entry].place].function;
}

static void set_list(strvec *list, const char *only)
{
	strvec_release(list);
	if (only)
		vec_push(list, xstrdup(only));
}

/* Zooming would replace the filters --comms and --dsos, so with them it is refused. */
static bool was_filtered(struct tui *t)
{
	const struct report_cmd_options *o = &t->view->o;

	if (!o->profile.comms && !o->dsos)
		return false;
	buf_add(&t->status, "cannot zoom: restart without --comms and --dsos");
	return true;
}

static void apply_zoom(struct tui *t)
{
	struct report_view *v = t->view;

	set_list(&v->comms, t->zoom_comm);
	set_list(&v->dsos, t->zoom_dso);
	report_view_filters(v);
	tui_rebuild(t);
}

static void zoom_thread(struct tui *t)
{
	const struct report_view *v = t->view;
	const struct tui_line *line = current(t);
	const struct profile *p = &v->in.profile;
	const struct report_group *g;

	if (!line || was_filtered(t))
		return;
	g = &v->report.groups.items[v->report.entries.items[line->entry].group];
	free(t->zoom_comm);
	t->zoom_comm = xstrdup(profile_text(p, p->threads.items[g->thread.n].comm));
	apply_zoom(t);
}

static void zoom_library(struct tui *t)
{
	const struct profile *p = &t->view->in.profile;
	const struct tui_line *line = current(t);
	const struct report_place *place;
	const char *name;

	if (!line || was_filtered(t))
		return;
	place = &t->view->report.places.items[t->view->report.entries.items[line->entry].place];
	name = profile_text(p, p->modules.items[function_of(p, function_at(t))->module.n].name);
	if (!*name && !line->node)
		name = profile_text(p, place->module);
	if (!*name) {
		buf_add(&t->status, "no library is known for this line");
		return;
	}
	free(t->zoom_dso);
	t->zoom_dso = xstrdup(name);
	apply_zoom(t);
}

static void find(struct tui *t)
{
	CLEANUP(buf_release) struct buf text = {};

	buf_add(&text, t->find ? t->find : "");
	if (!screen_ask(screen_height() - 1, "functions with: ", &text))
		return;
	free(t->find);
	t->find = text.len ? xstrdup(buf_str(&text)) : NULL;
	t->view->o.symbol_filter = t->find;
	report_view_filters(t->view);
	tui_rebuild(t);
}

/* Removes one restriction: the search text, else the library, else the thread. */
static void go_back(struct tui *t)
{
	char **narrowing = t->find ? &t->find : t->zoom_dso ? &t->zoom_dso : &t->zoom_comm;

	if (!*narrowing)
		return;
	free(*narrowing);
	*narrowing = NULL;
	t->view->o.symbol_filter = t->find;
	apply_zoom(t);
}

static void sort(struct tui *t)
{
	struct report_view *v = t->view;
	uint32_t before = v->ro.keys, needs;
	CLEANUP(buf_release) struct buf text = {};
	struct err e = {};
	const char *keys;

	if (!screen_ask(screen_height() - 1, "sort by (empty: comm,dso,sym): ", &text))
		return;
	keys = text.len ? buf_str(&text) : "comm,dso,sym";
	v->o.fields = NULL;
	if (report_view_sort(v, keys, &e) < 0) {
		buf_add(&t->status, e.text);
		(void)report_view_sort(v, NULL, NULL);
	}
	/* These keys need data that is only read if --sort names them at the start. */
	needs = v->ro.keys & ~before &
		(1u << REPORT_CPU | 1u << REPORT_TIME | 1u << REPORT_SRCLINE |
		 1u << REPORT_SRCFILE);
	if (needs) {
		buf_add(&t->status, "cpu, time, srcline and srcfile were not loaded: restart with "
				    "them in --sort");
		(void)report_view_sort(v, NULL, NULL);
	}
	if (!report_view_fields_loaded(v)) {
		buf_add(&t->status, "rows are split by all fields of --sort: name all of them, or "
				    "none");
		(void)report_view_sort(v, NULL, NULL);
	}
	report_view_defaults(v, v->has_callers);
	tui_rebuild(t);
}

static void switch_children(struct tui *t)
{
	struct report_view *v = t->view;
	size_t kept = 0;

	if (!v->has_callers) {
		buf_add(&t->status, "no stacks were recorded");
		return;
	}
	v->o.no_children = v->ro.children;
	report_view_choose(v, NULL);
	vec_each(&v->columns, c)
		if (c->kind != COLUMN_CHILDREN && c->kind != COLUMN_SELF)
			v->columns.items[kept++] = *c;
	v->columns.len = kept;
	v->o.fields = NULL;
	report_view_defaults(v, true);
	tui_rebuild(t);
}

static void annotate(struct tui *t)
{
	struct report_view *v = t->view;
	const char *path = v->o.profile.input ? v->o.profile.input : "perf.data";
	const struct command *command = NULL;
	char *argv[] = {(char *)"-i", (char *)path, NULL, NULL};
	struct err e = {};

	if (!current(t))
		return;
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, "annotate"))
			command = commands[i];
	if (!command || v->in.source != PROFILE_PERFDATA || v->in.once) {
		buf_add(&t->status, "only a function of a recording in a file can be annotated");
		return;
	}
	argv[2] = xstrdup(function_text(&v->in.profile, function_at(t)));
	screen_close();
	command->run(command, 3, argv);
	free(argv[2]);
	if (screen_open(&e) < 0)
		t->quit = true;
}

static void toggle(struct tui *t, bool only_open, bool only_close)
{
	const struct tui_line *line = current(t);
	bool open;

	if (!line)
		return;
	open = tui_is_open(t, line);
	if ((only_open && open) || (only_close && !open))
		return;
	tui_open(t, line, !open);
	tui_make_lines(t);
}

static void open_entries(struct tui *t, bool all, bool open)
{
	const struct tui_line *line = current(t);
	uint32_t entry;

	if (!line)
		return;
	entry = line->entry;
	if (all)
		vec_each(&tui_section(t)->entries, n) {
			const struct tui_line at = {.entry = *n};

			if (!open || tui_can_open(t, &at))
				tui_open_all(t, *n, open);
		}
	else
		tui_open_all(t, entry, open);
	tui_make_lines(t);
	/* The cursor stays with its entry. */
	vec_each(&t->lines, l)
		if (l->entry == entry && !l->node)
			t->cursor = (size_t)(l - t->lines.items);
}

static bool move(struct tui *t, int key)
{
	size_t page = screen_height() > 4 ? screen_height() - 4 : 1;
	size_t last = t->lines.len ? t->lines.len - 1 : 0;

	switch (key) {
	case KEY_UP:
	case 'k':
		t->cursor -= t->cursor > 0;
		return true;
	case KEY_DOWN:
	case 'j':
		t->cursor += t->cursor < last;
		return true;
	case KEY_PAGE_UP:
		t->cursor -= t->cursor < page ? t->cursor : page;
		return true;
	case KEY_PAGE_DOWN:
	case ' ':
		t->cursor += last - t->cursor < page ? last - t->cursor : page;
		return true;
	case KEY_HOME:
		t->cursor = 0;
		return true;
	case KEY_END:
		t->cursor = last;
		return true;
	default:
		return false;
	}
}

static void change(struct tui *t, int key)
{
	struct report_view *v = t->view;

	switch (key) {
	case 'c':
		v->caller = !v->caller;
		v->order_given = true;
		tui_rebuild(t);
		buf_addf(&t->status, "chains go from %s",
			 v->caller ? "callers down" : "callees up");
		break;
	case 'F':
		v->ro.relative = !v->ro.relative;
		tui_rebuild(t);
		buf_addf(&t->status, "100 %% is %s",
			 v->ro.relative ? "what is shown" : "all that was recorded");
		break;
	case 'S':
		switch_children(t);
		break;
	case 's':
		sort(t);
		break;
	case KEY_TAB:
		t->section = (t->section + 1) % v->report.sections.len;
		t->cursor = t->top = 0;
		report_view_choose(v, tui_section(t));
		columns_measure(v, tui_section(t), 32);
		tui_make_lines(t);
		break;
	case 'd':
		zoom_library(t);
		break;
	case 't':
		zoom_thread(t);
		break;
	case '/':
		find(t);
		break;
	default:
		break;
	}
}

void tui_key(struct tui *t, int key)
{
	buf_clear(&t->status);
	if (move(t, key))
		return;
	switch (key) {
	case 'q':
	case KEY_CTRL_C:
	case KEY_GONE:
		t->quit = true;
		break;
	case KEY_ENTER:
		toggle(t, false, false);
		break;
	case '+':
	case KEY_RIGHT:
		toggle(t, true, false);
		break;
	case '-':
	case KEY_LEFT:
		toggle(t, false, true);
		break;
	case 'e':
	case 'E':
		open_entries(t, key == 'E', true);
		break;
	case 'C':
		open_entries(t, true, false);
		break;
	case KEY_ESCAPE:
	case KEY_BACKSPACE:
		go_back(t);
		break;
	case 'a':
		annotate(t);
		break;
	case 'h':
	case '?':
		tui_help();
		break;
	default:
		change(t, key);
	}
}

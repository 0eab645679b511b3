/* tacho config: the settings in effect, and where each comes from. */
#include "cmd/server/commands.h"
#include "cmd/server/serve_settings.h"
#include "base/json.h"

#include <string.h>
#include <unistd.h>

int serve_settings(const struct serve_options *o, struct server_config *ret,
		   config_shown_list *ret_shown, struct err *e)
{
	config_options said = {};
	int r;

	vec_each(&o->settings, item)
		vec_push(&said, (struct config_option){item->option->name, item->value});
	r = config_load(ret, &said, ret_shown, e);
	vec_release(&said);
	return r;
}

static void as_json(const config_shown_list *shown, struct buf *out)
{
	struct json j = jw_to(out);

	jw_open(&j, '{');
	jw_key(&j, "settings");
	jw_open(&j, '[');
	vec_each(shown, x) {
		jw_open(&j, '{');
		jw_kv_str(&j, "name", x->name);
		jw_kv_str(&j, "value", x->value);
		jw_kv_str(&j, "source", x->source);
		jw_close(&j, '}');
	}
	jw_close(&j, ']');
	jw_close(&j, '}');
	buf_add_char(out, '\n');
}

static void as_text(const config_shown_list *shown, struct buf *out)
{
	size_t name = 0, value = 0;

	vec_each(shown, x) {
		size_t len = strlen(x->value ? x->value : "-");

		name = strlen(x->name) > name ? strlen(x->name) : name;
		value = len > value ? len : value;
	}
	vec_each(shown, x)
		buf_addf(out, "%-*s  %-*s  %s\n", (int)name, x->name, (int)value,
			 x->value ? x->value : "-", x->source);
}

int server_config_show(const struct command *self, int argc, char **argv)
{
	CLEANUP(buf_release) struct buf out = {};
	CLEANUP(config_release) struct server_config config = {};
	CLEANUP(config_shown_release) config_shown_list shown = {};
	CLEANUP(serve_options_release) struct serve_options o = {};
	struct err e;
	int status, used = command_options(self, &o, argc, argv, &status), r;

	if (used < 0)
		return status;
	r = serve_settings(&o, &config, &shown, &e);
	if (used < argc)
		return command_fail(EXIT_USAGE, "config takes no words: '%s'", argv[used]);
	if (r < 0)
		return command_fail(EXIT_FAILED, "%s", e.text);
	if (o.json)
		as_json(&shown, &out);
	else
		as_text(&shown, &out);
	return command_flush(&out, STDOUT_FILENO) ? EXIT_DONE : EXIT_FAILED;
}

/* Settings of the server: who counts, what values mean, what is said when they are wrong. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "server/config.h"
#include "support.h"

static struct server_config c;
static config_shown_list shown;
static struct err e;

static char *conf_path(void)
{
	static char path[300];

	snprintf(path, sizeof(path), "%s/config/tacho/tacho.conf", support_dir);
	return path;
}

static void write_conf(const char *text)
{
	char dir[300];

	snprintf(dir, sizeof(dir), "%s/config/tacho", support_dir);
	assert_int_equal(fs_mkdir_p(dir), 0);
	assert_int_equal(fs_write_atomic(conf_path(), text, strlen(text)), 0);
}

static int load(const char *name, const char *value)
{
	config_options options = {};
	int r;

	config_release(&c);
	config_shown_release(&shown);
	if (name)
		vec_push(&options, (struct config_option){name, value});
	r = config_load(&c, &options, &shown, &e);
	vec_release(&options);
	return r;
}

static const struct config_shown *find(const char *name)
{
	vec_each(&shown, x)
		if (!strcmp(x->name, name))
			return x;
	fail_msg("%s is not shown", name);
	return NULL;
}

static int clean(void **state)
{
	(void)state;
	unlink(conf_path());
	config_release(&c);
	config_shown_release(&shown);
	unsetenv("TACHO_QUOTA");
	unsetenv("TACHO_ALLOW_HOST");
	return 0;
}

static void what_counts(void **state)
{
	(void)state;
	assert_int_equal(load(NULL, NULL), 0);
	assert_string_equal(c.listen, "127.0.0.1:5000");
	assert_string_equal(find("listen")->source, "default");
	assert_null(find("tls-cert")->value);
	assert_int_equal(c.quota_bytes, 0);

	write_conf("# limits\n\nquota = 3K\nkeep-age=2d # two days\n");
	assert_int_equal(load(NULL, NULL), 0);
	assert_int_equal(c.quota_bytes, 3072);
	assert_int_equal(c.keep_s, 2 * 86400);
	assert_non_null(strstr(find("quota")->source, "/tacho.conf:3"));

	setenv("TACHO_QUOTA", "4K", 1);
	assert_int_equal(load(NULL, NULL), 0);
	assert_int_equal(c.quota_bytes, 4096);
	assert_string_equal(find("quota")->source, "environment TACHO_QUOTA");

	assert_int_equal(load("quota", "5K"), 0);
	assert_int_equal(c.quota_bytes, 5 * 1024);
	assert_string_equal(find("quota")->source, "option --quota");
	assert_string_equal(find("quota")->value, "5K");
}

static void lists_and_counts(void **state)
{
	config_options options = {};

	(void)state;
	write_conf("allow-host = a, b\nallow-host = c\ninsecure = twice\ndefault-modifiers = "
		   "cycles u\n");
	assert_int_equal(load(NULL, NULL), 0);
	assert_int_equal(c.allow_hosts.len, 3);
	assert_string_equal(c.allow_hosts.items[1], "b");
	assert_string_equal(find("allow-host")->value, "a, b, c");
	assert_string_equal(c.default_modifiers.items[0], "cycles u");
	assert_int_equal(c.insecure, 2);

	/* A list is one value: that of the place that counts most. */
	setenv("TACHO_ALLOW_HOST", "d", 1);
	assert_int_equal(load(NULL, NULL), 0);
	assert_int_equal(c.allow_hosts.len, 1);

	config_release(&c);
	vec_push(&options, (struct config_option){"insecure", NULL});
	vec_push(&options, (struct config_option){"insecure", NULL});
	assert_int_equal(config_load(&c, &options, NULL, &e), 0);
	assert_int_equal(c.insecure, 2);
	vec_release(&options);
}

static void wrong_ones_say_where(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"listen = 1:2\nquotta = 3\n",
		 "tacho.conf:2: there is no setting 'quotta'; did you mean "
		 "'quota'?"},
		{"quota = many\n",
		 "tacho.conf:1: 'quota' is a size such as 500M or 10G, not 'many'"},
		{"keep-age = 30\n", "'keep-age' is a time"},
		{"queue-max = -1\n", "'queue-max' is a number"},
		{"insecure = 3\n", "'insecure' is no, yes or twice"},
		{"quota\n", "'quota' is not 'name = value'"},
		{"quota =\n", "'quota' has no value"},
		{"quota = 1\n\nquota = 2\n", "tacho.conf:3: 'quota' was set already, at "},
		{"config = x\n", "'config' is not allowed"},
		{"= 3\n", "there is no setting ''"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		write_conf(cases[i].text);
		assert_int_equal(load(NULL, NULL), -EINVAL);
		if (!strstr(e.text, cases[i].says))
			fail_msg("%s", e.text);
	}
	assert_int_equal(load("config", "/nowhere/x.conf"), -ENOENT);
	assert_non_null(strstr(e.text, "/nowhere/x.conf"));
}

static void addresses(void **state)
{
	static const struct {
		const char *text, *host;
		int port;
	} cases[] = {
		{"127.0.0.1:5000", "127.0.0.1", 5000},
		{"[::1]:0", "::1", 0},
		{":80", "0.0.0.0", 80},
		{"host:65535", "host", 65535},
	};
	static const char *const bad[] = {"", "5000", "a:", "a:65536", "a:x", "::1:80", "a:-1"};
	char *host = NULL;
	uint16_t port;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(config_address(cases[i].text, &host, &port, &e), 0);
		assert_string_equal(host, cases[i].host);
		assert_int_equal(port, cases[i].port);
		free(host);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(config_address(bad[i], &host, &port, &e), -EINVAL);
	assert_true(config_is_loopback("127.9.9.9"));
	assert_true(config_is_loopback("::1"));
	assert_true(config_is_loopback("localhost"));
	assert_false(config_is_loopback("0.0.0.0"));
	assert_false(config_is_loopback("::"));
	assert_false(config_is_loopback("127.0.0.1.example.org"));
}

static void safety(void **state)
{
	(void)state;
	assert_int_equal(load(NULL, NULL), 0);
	assert_int_equal(config_check_safety(&c, &e), 0);
	assert_int_equal(load("listen", "0.0.0.0:5000"), 0);
	assert_int_equal(config_check_safety(&c, &e), -EINVAL);
	assert_non_null(strstr(e.text, "--insecure twice"));
	c.insecure = 1;
	assert_int_equal(config_check_safety(&c, &e), -EINVAL);
	c.insecure = 2;
	assert_int_equal(config_check_safety(&c, &e), 0);
	c.insecure = 0;
	c.tls_cert = xstrdup("c.pem");
	assert_int_equal(config_check_safety(&c, &e), -EINVAL);
	c.tls_key = xstrdup("k.pem");
	assert_int_equal(config_check_safety(&c, &e), 0);
	c.no_token = 1;
	assert_int_equal(config_check_safety(&c, &e), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(what_counts, clean),
		cmocka_unit_test_teardown(lists_and_counts, clean),
		cmocka_unit_test_teardown(wrong_ones_say_where, clean),
		cmocka_unit_test(addresses),
		cmocka_unit_test_teardown(safety, clean),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}

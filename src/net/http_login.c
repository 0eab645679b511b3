/*
 * What a browser shows to somebody who has no token, or a wrong one: what to do, and a field for it.
 * There is no script on it; what came with the request is escaped.
 */
#include "net/http_internal.h"
#include "base/text.h"

#include <string.h>

static const char *const css_lines[] = {
#include "login_css.inc"
};

#define LOGO                                                                                       \
	"<svg width=\"40\" height=\"40\" viewBox=\"0 0 32 32\" aria-hidden=\"true\">"              \
	"<rect width=\"32\" height=\"32\" rx=\"7\" fill=\"#0b6e75\"/>"                             \
	"<path d=\"M6 21a10 10 0 0 1 20 0\" fill=\"none\" stroke=\"#bfeef0\" stroke-width=\"3\" "  \
	"stroke-linecap=\"round\"/><path d=\"M16 21 22 11\" stroke=\"#ffb454\" "                   \
	"stroke-width=\"3\" stroke-linecap=\"round\"/>"                                            \
	"<circle cx=\"16\" cy=\"21\" r=\"2.6\" fill=\"#ffb454\"/></svg>"

/* It leads to where the browser wanted to go. */
static void add_form(struct buf *out, const struct exchange *x)
{
	CLEANUP(buf_release) struct buf path = {};

	buf_add_mem(&path, x->target, strcspn(x->target, "?"));
	buf_add(out, "<form method=\"get\" action=\"/");
	/* "//name" would be another host. */
	text_add_html(out, buf_str(&path) + strspn(buf_str(&path), "/"));
	buf_add(out, "\">");
	vec_each(&x->request.query, pair) {
		if (!strcmp(pair->name, "token"))
			continue;
		buf_add(out, "<input type=\"hidden\" name=\"");
		text_add_html(out, pair->name);
		buf_add(out, "\" value=\"");
		text_add_html(out, pair->value);
		buf_add(out, "\">");
	}
	buf_add(out, "<label for=\"token\">Token, or the whole address</label><div>"
		     "<input id=\"token\" name=\"token\" type=\"password\" required autofocus "
		     "autocomplete=\"current-password\" spellcheck=\"false\">"
		     "<button>Open</button></div></form>");
}

/* Who follows a link on another site (a mail, a chat) comes without the cookie, even if there is one. It
 * is sent when we ask for the same address ourselves: then the request comes from here. */
static void add_second_try(struct buf *out, const struct exchange *x)
{
	const char *from = http_header(&x->request, "Sec-Fetch-Site");

	if (x->credential.text[0] || !from ||
	    (strcmp(from, "cross-site") && strcmp(from, "same-site")))
		return;
	buf_add(out, "<meta http-equiv=\"refresh\" content=\"0;url=/");
	text_add_html(out, x->target + strspn(x->target, "/"));
	buf_add(out, "\">");
}

void login_page(struct exchange *x)
{
	struct buf *out = &x->reply.body;
	bool wrong = x->credential.text[0] || http_query(&x->request, "token");

	buf_clear(out);
	buf_add(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
		     "<meta name=\"robots\" content=\"noindex\"><title>Open tacho</title>");
	add_second_try(out, x);
	buf_add(out, "<style>\n");
	for (size_t i = 0; i < ARRAY_LEN(css_lines); i++)
		buf_add(out, css_lines[i]);
	buf_add(out, "</style></head><body><main><header>" LOGO "<span>tacho</span></header>");
	buf_add(out, wrong ? "<h1>This token does not open it</h1><p>It is not known here, or was "
			     "revoked. The address that <code>tacho serve</code> prints has one "
			     "that works.</p>"
			   : "<h1>This tacho needs to know you</h1><p>Open the address that "
			     "<code>tacho serve</code> has printed: it ends in "
			     "<code>?token=…</code> This browser is then known for 30 days.</p>");
	add_form(out, x);
	buf_add(out,
		"<footer>Is it somebody else’s machine? Whoever administers it makes a token "
		"for you by <code>tacho users add NAME</code>.</footer></main></body></html>\n");
	x->reply.type = "text/html; charset=utf-8";
	http_reply_header(&x->reply, "Content-Security-Policy",
			  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
			  "form-action 'self'; frame-ancestors 'none'");
}

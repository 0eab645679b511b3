/*
 * Who may ask, and for what. Two things protect a server on a loopback address from pages of other
 * sites in the user's own browser: a Host that is not ours is refused (a name that was pointed at
 * 127.0.0.1), and so is a request that another site's page has made (Origin, Sec-Fetch-Site).
 */
#include "net/http_internal.h"

#include "net/http_text.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

static bool is_read(const struct exchange *x)
{
	return !strcmp(x->request.method, "GET") || !strcmp(x->request.method, "HEAD");
}

static bool refuse(struct exchange *x, int status, const char *sentence)
{
	http_reply_error(&x->reply, status, sentence);
	return false;
}

/* The address that the client has reached us by: no name was looked up, so none can lie. */
static bool host_is_own_address(const struct exchange *x, const char *host)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct sockaddr_storage a = {};
	socklen_t len = sizeof(a);
	char text[INET6_ADDRSTRLEN];
	char *items[] = {text};
	strvec own = {.items = items, .len = 1};

	if (!info || getsockname(info->connect_fd, (struct sockaddr *)&a, &len) < 0)
		return false;
	if (a.ss_family != AF_INET && a.ss_family != AF_INET6)
		return false;
	if (a.ss_family == AF_INET)
		inet_ntop(AF_INET, &((struct sockaddr_in *)&a)->sin_addr, text, sizeof(text));
	else
		inet_ntop(AF_INET6, &((struct sockaddr_in6 *)&a)->sin6_addr, text, sizeof(text));
	return host_allowed(host, &own);
}

/* What a head may have only one of: a proxy and we could take different ones for the right one. */
static const char *const single[] = {"Host", "Content-Length", "Transfer-Encoding", "Authorization",
				     "Origin"};

struct head_check {
	unsigned counts[ARRAY_LEN(single)];
	const char *problem;
};

static bool is_header_name(const char *name)
{
	const char *at = name;

	while (isalnum((unsigned char)*at) || (*at && strchr("!#$%&'*+-.^_`|~", *at)))
		at++;
	return at > name && !*at;
}

static enum MHD_Result check_header(void *ctx, enum MHD_ValueKind kind, const char *name,
				    const char *value)
{
	struct head_check *c = ctx;

	(void)kind;
	(void)value;
	if (!is_header_name(name))
		c->problem = "A header of the request is not well-formed.";
	for (size_t i = 0; i < ARRAY_LEN(single); i++)
		if (!strcasecmp(name, single[i]) && c->counts[i]++)
			c->problem = "A header that there is one of comes twice in the request.";
	return MHD_YES;
}

/* What is wrong with the head as a whole, or NULL. */
static const char *head_problem(const struct exchange *x)
{
	const char *coding = http_header(&x->request, "Transfer-Encoding");
	struct head_check c = {};

	MHD_get_connection_values(x->connection, MHD_HEADER_KIND, check_header, &c);
	if (c.problem)
		return c.problem;
	if (!c.counts[0])
		return "A request has a Host header.";
	if (coding && strcasecmp(coding, "chunked") != 0)
		return "The only Transfer-Encoding that is known here is 'chunked'.";
	if (coding && http_header(&x->request, "Content-Length"))
		return "A request has a Content-Length or a Transfer-Encoding, but not both.";
	return NULL;
}

/* What other sites' pages may make a browser do: follow a link, and nothing else. */
static bool from_elsewhere(const struct exchange *x, const char *host)
{
	const char *site = http_header(&x->request, "Sec-Fetch-Site");
	const char *mode = http_header(&x->request, "Sec-Fetch-Mode");

	if (!origin_allowed(http_header(&x->request, "Origin"), host))
		return true;
	if (!site || !strcmp(site, "same-origin") || !strcmp(site, "none"))
		return false;
	return !is_read(x) || !mode || strcmp(mode, "navigate") != 0;
}

/* Who is asked for a token may have copied the address that has it. */
static const char *pasted_token(const char *text)
{
	const char *in_address = text ? strstr(text, "?token=") : NULL;

	return in_address ? in_address + strlen("?token=") : text;
}

static void find_credential(struct exchange *x)
{
	const char *header = http_header(&x->request, "Authorization");
	const char *query = pasted_token(http_query(&x->request, "token"));
	const char *cookie = http_header(&x->request, "Cookie");
	struct http_credential *c = &x->credential;

	if (header && bearer_token(header, c->text)) {
		c->kind = CREDENTIAL_TOKEN;
	} else if (query && token_valid(query)) {
		snprintf(c->text, sizeof(c->text), "%s", query);
		c->kind = CREDENTIAL_TOKEN;
		x->token_in_query = true;
	} else if (cookie && cookie_token(cookie, x->server->cookie_name, c->text)) {
		c->kind = CREDENTIAL_COOKIE;
	} else {
		c->text[0] = '\0';
		/* A wrong token is not made up for by the socket. */
		c->kind = x->guard && x->guard->owner && !header && !query ? CREDENTIAL_OWNER
									   : CREDENTIAL_NONE;
	}
}

/* The restriction to addresses. Checked first: whoever is not let in learns nothing else. */
static bool refuse_address(struct exchange *x)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *a = info ? info->client_addr : NULL;
	CLEANUP(buf_release) struct buf sentence = {};
	char text[INET6_ADDRSTRLEN] = "";

	if (!x->server->allow_from.len || (a && a->sa_family == AF_UNIX) ||
	    (a && cidr_match(&x->server->allow_from, a)))
		return false;
	if (a && a->sa_family == AF_INET)
		inet_ntop(AF_INET, &((const struct sockaddr_in *)a)->sin_addr, text, sizeof(text));
	else if (a && a->sa_family == AF_INET6)
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)a)->sin6_addr, text,
			  sizeof(text));
	buf_addf(&sentence,
		 "Your address %s is not one that this server answers: whoever runs it can add it "
		 "to "
		 "allow-from.",
		 text);
	refuse(x, 403, buf_str(&sentence));
	return true;
}

static bool wants_page(const struct exchange *x)
{
	return is_read(x) && list_accepts(http_header(&x->request, "Accept"), "text/html");
}

/* The most specific route, and whether there is one for another method. */
static void find_route(struct exchange *x)
{
	const char *method = strcmp(x->request.method, "HEAD") ? x->request.method : "GET";
	unsigned best = 0;

	for (const struct http_route *const *t = x->server->o.tables; *t; t++)
		for (const struct http_route *r = *t; r->path; r++) {
			struct path_args args;
			unsigned match = path_match(r->path, x->path, &args);

			x->path_known |= match > 0;
			if (match > best && !strcmp(r->method, method)) {
				best = match;
				x->route = r;
				x->path_args = args;
			}
		}
}

bool exchange_check(struct exchange *x)
{
	const char *host = http_header(&x->request, "Host"), *problem;
	struct err e = {};

	if (refuse_address(x))
		return false;
	if (target_parse(x->target, &x->path, &x->request.query, &e) < 0)
		return refuse(x, 400, e.text);
	x->request.path = x->path;
	problem = head_problem(x);
	if (problem)
		return refuse(x, 400, problem);
	if (!host_allowed(host, &x->server->allowed_hosts) &&
	    !(host && host_is_own_address(x, host)))
		return refuse(
			x, 403,
			"The name of this server in the request (Host) is not one that it knows. "
			"Start it with --allow-host NAME if it is reached by that name.");
	if (from_elsewhere(x, host))
		return refuse(x, 403, "The request comes from a page of another site.");
	find_credential(x);
	if (x->credential.kind == CREDENTIAL_COOKIE && !is_read(x) &&
	    !http_header(&x->request, "Origin") && !http_header(&x->request, "Sec-Fetch-Site"))
		return refuse(
			x, 403,
			"A browser that changes something says where its page is from (Origin). "
			"Programs send their token as Authorization: Bearer TOKEN.");
	find_route(x);
	x->logs_in = x->token_in_query && x->server->o.log_in && wants_page(x) &&
		     !strcmp(x->request.method, "GET");
	return true;
}

static void take_args(struct exchange *x, const struct path_args *args)
{
	size_t size = 0;
	char *at;

	for (unsigned i = 0; i < args->count; i++)
		size += args->items[i].len + 1;
	at = x->args = xcalloc(size + 1, 1);
	for (unsigned i = 0; i < args->count; i++) {
		x->request.args[i] = at;
		memcpy(at, args->items[i].s, args->items[i].len);
		at += args->items[i].len + 1;
	}
}

static bool refuse_unknown(struct exchange *x)
{
	refuse(x, 401,
	       x->credential.text[0]
		       ? "The token is not known here, or was revoked."
		       : "A token is needed: Authorization: Bearer TOKEN. `tacho serve` prints "
			 "the address with the token.");
	http_reply_header(&x->reply, "WWW-Authenticate", "Bearer realm=\"tacho\"");
	if (wants_page(x))
		login_page(x);
	return false;
}

/* Nobody can be looked up. Only the server's own user is told why: a reason has paths in it. */
static bool refuse_for_now(struct exchange *x, const struct err *e)
{
	return refuse(x, 503,
		      x->guard && x->guard->owner && e->text[0]
			      ? e->text
			      : "The database that has the users cannot be read now. Try again "
				"later; /healthz says when it can.");
}

/* Whose request it is: 0 or the result of identify(). */
static int identify(struct exchange *x, void *worker, struct err *e)
{
	const struct http_options *o = &x->server->o;

	return o->identify ? o->identify(worker, &x->credential, &x->identity, e) : -ENOENT;
}

/* Which methods the path does have. */
static void add_allow(struct exchange *x)
{
	CLEANUP(buf_release) struct buf methods = {};
	struct path_args args;

	for (const struct http_route *const *t = x->server->o.tables; *t; t++)
		for (const struct http_route *r = *t; r->path; r++)
			if (path_match(r->path, x->path, &args) &&
			    !strstr(buf_str(&methods), r->method))
				buf_addf(&methods, "%s%s", methods.len ? ", " : "", r->method);
	http_reply_header(&x->reply, "Allow", "%s", buf_str(&methods));
}

static bool refuse_path(struct exchange *x)
{
	CLEANUP(buf_release) struct buf sentence = {};

	if (x->path_known)
		buf_addf(&sentence, "%s cannot be done with this path.", x->request.method);
	else
		buf_addf(&sentence, "There is nothing at %.200s.", x->path);
	refuse(x, x->path_known ? 405 : 404, buf_str(&sentence));
	if (x->path_known)
		add_allow(x);
	return false;
}

/*
 * A browser goes on without the token in its address, where it would be seen and copied. It gets a
 * cookie instead, which is not the token: browsers send cookies to all ports of a host, so another
 * server there may see it. It opens nothing but this server, and not for long.
 */
static bool log_in(struct exchange *x, void *worker)
{
	CLEANUP(free_ptr) char *target = target_without(x->target, "token");
	size_t slashes = strspn(target, "/");
	char cookie[TOKEN_BYTES];
	struct err e = {};
	int r = x->server->o.log_in(worker, &x->identity, cookie, &e);

	if (r < 0)
		return refuse(x, http_status_of(r), e.text);
	x->reply.status = 303;
	/* "//name" would be another host. */
	http_reply_header(&x->reply, "Location", "/%s", target + slashes);
	http_reply_header(&x->reply, "Set-Cookie",
			  "%s=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%d%s",
			  x->server->cookie_name, cookie, HTTP_COOKIE_DAYS * 86400,
			  x->server->tls ? "; Secure" : "");
	return false;
}

static bool refuse_role(struct exchange *x)
{
	CLEANUP(buf_release) struct buf sentence = {};

	buf_addf(&sentence, "This needs the role '%s'; you are '%s' with the role '%s'.",
		 role_name(x->route->role), x->identity.name, role_name(x->identity.role));
	if (x->identity.limited)
		buf_addf(&sentence, " %s", x->identity.limited);
	return refuse(x, 403, buf_str(&sentence));
}

bool exchange_admit(struct exchange *x, void *worker)
{
	struct err e = {};
	int r = identify(x, worker, &e);

	x->admitted = true;
	/* A failed lookup says nothing about the token, so a known client must not be closed first for it. */
	if (x->guard && (r == 0 || r == -ENOENT))
		guard_know(&x->server->guard, x->guard, r == 0);
	if (r == 0)
		x->request.user = &x->identity;
	else if (!x->route || !x->route->open)
		return r == -ENOENT ? refuse_unknown(x) : refuse_for_now(x, &e);
	if (!x->route)
		return refuse_path(x);
	if (r == 0 && x->logs_in)
		return log_in(x, worker);
	if (!x->route->open && x->identity.role < x->route->role)
		return refuse_role(x);
	take_args(x, &x->path_args);
	return true;
}

bool exchange_readmit(struct exchange *x, void *worker)
{
	struct err e = {};
	int r;

	if (x->route->open || !x->has_body)
		return true;
	r = identify(x, worker, &e);
	if (r < 0)
		return r == -ENOENT ? refuse_unknown(x) : refuse_for_now(x, &e);
	return x->identity.role >= x->route->role || refuse_role(x);
}

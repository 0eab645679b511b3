/* Where the server listens, and with which certificate: what can go wrong at the start is said here. */
#include "net/http_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PEM_BYTES_MAX (1u << 20)

static int listen_failed(const char *host, uint16_t port, int code, struct err *e)
{
	switch (code) {
	case EADDRINUSE:
		return err_set(
			e, code,
			"port %u of %s is in use, maybe by another tacho: end that one, or choose "
			"another port (--listen %s:PORT; port 0 takes any free one)",
			port, host, host);
	case EACCES:
		return err_set(
			e, code,
			"port %u needs a right that we do not have: choose one of 1024 and above "
			"(--listen %s:PORT)",
			port, host);
	case EADDRNOTAVAIL:
		return err_set(e, code, "%s is not an address of this machine: see `ip address`",
			       host);
	default:
		return err_set(e, code, "cannot listen on port %u of %s: %s", port, host,
			       strerror(code));
	}
}

static int try_listen(const struct addrinfo *a)
{
	int fd =
		socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
	int on = 1, err;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (!bind(fd, a->ai_addr, a->ai_addrlen) && !listen(fd, 1024))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static uint16_t port_of(int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_in four;
		struct sockaddr_in6 six;
	} a = {};
	socklen_t len = sizeof(a);

	if (getsockname(fd, &a.any, &len) < 0)
		return 0;
	return ntohs(a.any.sa_family == AF_INET6 ? a.six.sin6_port : a.four.sin_port);
}

int listen_open(const char *host, uint16_t port, int *ret_fd, uint16_t *ret_port, struct err *e)
{
	struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
				 .ai_socktype = SOCK_STREAM};
	struct addrinfo *list;
	char service[8];
	int err, fd = -EADDRNOTAVAIL;

	snprintf(service, sizeof(service), "%u", port);
	err = getaddrinfo(host, service, &hints, &list);
	if (err)
		return err_set(e, EINVAL, "cannot listen on '%s': %s", host, gai_strerror(err));
	for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next)
		fd = try_listen(a);
	freeaddrinfo(list);
	if (fd < 0)
		return listen_failed(host, port, -fd, e);
	*ret_fd = fd;
	*ret_port = port_of(fd);
	return 0;
}

static int read_pem(const char *path, const char *what, char **ret, struct err *e)
{
	int err = fs_read(path, PEM_BYTES_MAX, ret);

	return err ? err_set(e, -err, "cannot read the %s %s: %s", what, path, strerror(-err)) : 0;
}

static int check_certificate(const char *path, const gnutls_datum_t *text, struct err *e)
{
	gnutls_x509_crt_t *list = NULL;
	unsigned count = 0;
	int err = gnutls_x509_crt_list_import2(&list, &count, text, GNUTLS_X509_FMT_PEM, 0);

	if (err < 0)
		return err_set(
			e, EINVAL,
			"%s is no certificate in PEM form (a text that has BEGIN CERTIFICATE in "
			"it): %s",
			path, gnutls_strerror(err));
	for (unsigned i = 0; i < count; i++)
		gnutls_x509_crt_deinit(list[i]);
	gnutls_free(list);
	return 0;
}

static int check_key(const char *path, const gnutls_datum_t *text, struct err *e)
{
	gnutls_x509_privkey_t key;
	int err;

	if (gnutls_x509_privkey_init(&key) < 0)
		return err_set(e, ENOMEM, "no memory for the key");
	err = gnutls_x509_privkey_import2(key, text, GNUTLS_X509_FMT_PEM, NULL, 0);
	gnutls_x509_privkey_deinit(key);
	if (err == GNUTLS_E_DECRYPTION_FAILED)
		return err_set(
			e, EINVAL,
			"the key %s is protected by a password: write it without one (openssl "
			"pkey -in %s -out NEW), readable by you alone",
			path, path);
	if (err < 0)
		return err_set(
			e, EINVAL,
			"%s is no private key in PEM form (a text that has BEGIN PRIVATE KEY in "
			"it): %s",
			path, gnutls_strerror(err));
	return 0;
}

static int check_pair(const char *cert_path, const char *key_path, const gnutls_datum_t *cert,
		      const gnutls_datum_t *key, struct err *e)
{
	gnutls_certificate_credentials_t pair;
	int err;

	if (gnutls_certificate_allocate_credentials(&pair) < 0)
		return err_set(e, ENOMEM, "no memory for the certificate");
	err = gnutls_certificate_set_x509_key_mem(pair, cert, key, GNUTLS_X509_FMT_PEM);
	gnutls_certificate_free_credentials(pair);
	if (err == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
		return err_set(e, EINVAL,
			       "the key %s does not belong to the certificate %s: were both made "
			       "together?",
			       key_path, cert_path);
	if (err < 0)
		return err_set(e, EINVAL, "%s and %s cannot be used together: %s", cert_path,
			       key_path, gnutls_strerror(err));
	return 0;
}

int tls_load(const char *cert_path, const char *key_path, char **ret_cert, char **ret_key,
	     struct err *e)
{
	CLEANUP(free_ptr) char *cert = NULL, *key = NULL;
	gnutls_datum_t cert_text, key_text;
	int err;

	if (!cert_path || !key_path)
		return err_set(e, EINVAL,
			       "TLS needs both a certificate and its key: --tls-cert FILE "
			       "--tls-key FILE");
	if ((err = read_pem(cert_path, "certificate", &cert, e)) ||
	    (err = read_pem(key_path, "key", &key, e)))
		return err;
	cert_text = (gnutls_datum_t){(unsigned char *)cert, (unsigned)strlen(cert)};
	key_text = (gnutls_datum_t){(unsigned char *)key, (unsigned)strlen(key)};
	if ((err = check_certificate(cert_path, &cert_text, e)) ||
	    (err = check_key(key_path, &key_text, e)) ||
	    (err = check_pair(cert_path, key_path, &cert_text, &key_text, e)))
		return err;
	*ret_cert = cert;
	*ret_key = key;
	cert = key = NULL;
	return 0;
}

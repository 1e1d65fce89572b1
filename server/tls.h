/* tls.h — the certificate and key for HTTPS, and their replacement while the daemon runs.
 *
 * A connection keeps the credentials with which it began; replaced credentials are freed when their last connection
 * ends. */
#pragma once

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* GnuTLS priority string: TLS 1.3, and 1.2 with ephemeral elliptic curves and authenticated ciphers, in the server's
 * order. Finite-field groups are excluded: measured with GnuTLS 3.7.9, a handshake takes 270 ms with ffdhe8192. With
 * these curves it takes 0.3 to 1 ms for a P-256 key, 3 ms for RSA 2048, and 10 to 14 ms for RSA 4096. */
#define TLS_PRIORITIES                                                                           \
    "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:" \
    "+AES-128-GCM:+CHACHA20-POLY1305:+AES-256-GCM:-MAC-ALL:+AEAD:-GROUP-ALL:+GROUP-X25519:"      \
    "+GROUP-SECP256R1:+GROUP-SECP384R1:%SERVER_PRECEDENCE"

typedef struct tls_server tls_server;
typedef struct tls_credentials tls_credentials; /* reference-counted */

/* Reads both PEM files and checks that they are a certificate and its key. On failure returns NULL with a message that
 * names the option. The paths must outlive the result. */
tls_server *tls_open(const char *certificate_path, const char *key_path, char *message, size_t room);
void tls_close(tls_server *s); /* call after the last connection has ended */

/* Reads both files again; new connections use their contents. If a file is invalid, returns false with a message and
 * keeps the former credentials. */
bool tls_reload(tls_server *s, char *message, size_t room);
int64_t tls_expires_ms(tls_server *s); /* expiry of the certificate, ms since 1970 */

/* Sets the current credentials in a new session. Returns these credentials; call tls_release at the end of the session.
 * Returns NULL if out of memory; the handshake then fails. */
tls_credentials *tls_attach(tls_server *s, gnutls_session_t session);
void tls_release(tls_credentials *c);

/* tls.h — the certificate and key with which the daemon serves HTTPS, and their replacement while it does.
 *
 * A connection keeps the credentials that it began with; those it replaces are freed with their last connection. */
#ifndef HAMEL_SERVER_TLS_H
#define HAMEL_SERVER_TLS_H

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* TLS 1.3, and 1.2 with ephemeral elliptic curves and authenticated ciphers, in the server's order, as GnuTLS writes it.
 * Finite-field groups are left out: measured with GnuTLS 3.7.9, a handshake costs 270 ms with ffdhe8192, and with these
 * curves 0.3 to 1 ms for a P-256 key, 3 ms for RSA 2048, 10 to 14 ms for RSA 4096. */
#define TLS_PRIORITIES                                                                           \
    "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:" \
    "+AES-128-GCM:+CHACHA20-POLY1305:+AES-256-GCM:-MAC-ALL:+AEAD:-GROUP-ALL:+GROUP-X25519:"      \
    "+GROUP-SECP256R1:+GROUP-SECP384R1:%SERVER_PRECEDENCE"

typedef struct tls_server tls_server;
typedef struct tls_credentials tls_credentials; /* counted */

/* Reads both PEM files and checks that they are a certificate and its key. Returns NULL with a message that names the
 * option at fault. The paths outlive the result. */
tls_server *tls_open(const char *certificate_path, const char *key_path, char *message, size_t room);
void tls_close(tls_server *s); /* after the last connection */

/* Reads both files again; new connections use what they contain. If they are at fault, returns false with a message, and
 * the credentials stay as they are. */
bool tls_reload(tls_server *s, char *message, size_t room);
int64_t tls_expires_ms(tls_server *s); /* wall time at which the certificate expires */

/* Gives the current credentials to a new session. Returns them for tls_release once the session has ended; NULL without
 * memory: the handshake then fails. */
tls_credentials *tls_attach(tls_server *s, gnutls_session_t session);
void tls_release(tls_credentials *c);

#endif

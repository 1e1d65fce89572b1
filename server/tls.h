/* tls.h — the certificate that the daemon shows, from two files in PEM. */
#ifndef HAMEL_SERVER_TLS_H
#define HAMEL_SERVER_TLS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tls_files {
    char *certificate, *key; /* PEM text, NUL-terminated */
} tls_files;

/* TLS 1.2 and 1.3 only, and the server's order of ciphers, as GnuTLS writes it. */
#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE"

/* Reads both and checks that they are a certificate and its key. False with a message that names the option at fault;
 * then nothing is to be freed. */
bool tls_read(tls_files *files, const char *certificate_path, const char *key_path, char *message, size_t room);
void tls_free(tls_files *files); /* wipes the key */

#endif

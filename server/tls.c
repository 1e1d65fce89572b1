/* tls.c — see tls.h. */
#include "server/tls.h"

#include "server/regular_file.h"

#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1024 * 1024 };

static char *read_file(const char *option, const char *path, char *message, size_t room) {
    char why[FILE_REASON_BYTES];
    size_t length;
    char *text = regular_file_read(path, FILE_BYTES_MAX, &length, why);
    if (!text) snprintf(message, room, "%s: %.300s: %s", option, path, why);
    return text;
}

static bool belong_together(const tls_files *files, char *message, size_t room) {
    gnutls_certificate_credentials_t credentials;
    gnutls_datum_t certificate = {(unsigned char *)files->certificate, (unsigned)strlen(files->certificate)};
    gnutls_datum_t key = {(unsigned char *)files->key, (unsigned)strlen(files->key)};
    if (gnutls_certificate_allocate_credentials(&credentials) != GNUTLS_E_SUCCESS) {
        snprintf(message, room, "out of memory");
        return false;
    }
    int rc = gnutls_certificate_set_x509_key_mem(credentials, &certificate, &key, GNUTLS_X509_FMT_PEM);
    gnutls_certificate_free_credentials(credentials);
    if (rc >= 0) return true;
    snprintf(message, room, "--tls-cert, --tls-key: %s", gnutls_strerror(rc));
    return false;
}

bool tls_read(tls_files *files, const char *certificate_path, const char *key_path, char *message, size_t room) {
    *files = (tls_files){0};
    files->certificate = read_file("--tls-cert", certificate_path, message, room);
    if (files->certificate) files->key = read_file("--tls-key", key_path, message, room);
    if (files->key && belong_together(files, message, room)) return true;
    tls_free(files);
    return false;
}

void tls_free(tls_files *files) {
    if (files->key) explicit_bzero(files->key, strlen(files->key));
    free(files->certificate);
    free(files->key);
    *files = (tls_files){0};
}

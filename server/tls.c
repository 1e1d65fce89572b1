/* tls.c — loads credentials, and counts the connections that use them; see tls.h. */
#include "server/tls.h"

#include "server/log.h"
#include "server/regular_file.h"

#include <gnutls/x509.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1024 * 1024 };

struct tls_credentials {
    atomic_size_t references; /* one reference for each connection, and one while these are the current credentials */
    gnutls_certificate_credentials_t certificate;
    int64_t expires_ms;
};

struct tls_server {
    const char *certificate_path, *key_path;
    pthread_mutex_t lock; /* guards the members below */
    tls_credentials *current;
};

static bool read_pem(const char *option, const char *path, gnutls_datum_t *pem, char *message, size_t room) {
    char why[FILE_REASON_BYTES];
    size_t length;
    char *text = regular_file_read(path, FILE_BYTES_MAX, &length, why);
    if (!text) return failed_with(message, room, "%s: %.300s: %s", option, path, why);
    *pem = (gnutls_datum_t){.data = (unsigned char *)text, .size = (unsigned)length};
    return true;
}

/* Returns the expiry of the first certificate in the chain: the server's own. */
static int64_t expiry_ms(gnutls_certificate_credentials_t certificate) {
    gnutls_datum_t der;
    gnutls_x509_crt_t parsed;
    int64_t seconds = 0;
    if (gnutls_certificate_get_crt_raw(certificate, 0, 0, &der) < 0 || gnutls_x509_crt_init(&parsed) < 0) return 0;
    if (gnutls_x509_crt_import(parsed, &der, GNUTLS_X509_FMT_DER) >= 0)
        seconds = gnutls_x509_crt_get_expiration_time(parsed);
    gnutls_x509_crt_deinit(parsed);
    return 1000 * seconds;
}

static tls_credentials *make_credentials(const gnutls_datum_t *certificate, const gnutls_datum_t *key, char *message,
                                         size_t room) {
    tls_credentials *c = calloc(1, sizeof *c);
    int rc = c ? gnutls_certificate_allocate_credentials(&c->certificate) : GNUTLS_E_MEMORY_ERROR;
    if (rc >= 0) rc = gnutls_certificate_set_x509_key_mem(c->certificate, certificate, key, GNUTLS_X509_FMT_PEM);
    if (rc < 0) {
        snprintf(message, room, "--tls-cert, --tls-key: %s", gnutls_strerror(rc));
        if (c && c->certificate) gnutls_certificate_free_credentials(c->certificate);
        free(c);
        return NULL;
    }
    atomic_init(&c->references, 1);
    c->expires_ms = expiry_ms(c->certificate);
    return c;
}

static tls_credentials *read_credentials(const tls_server *s, char *message, size_t room) {
    gnutls_datum_t certificate = {0}, key = {0};
    tls_credentials *made = NULL;
    if (read_pem("--tls-cert", s->certificate_path, &certificate, message, room) &&
        read_pem("--tls-key", s->key_path, &key, message, room)) {
        made = make_credentials(&certificate, &key, message, room);
    }
    if (key.data) explicit_bzero(key.data, key.size);
    free(key.data);
    free(certificate.data);
    return made;
}

void tls_release(tls_credentials *c) {
    if (!c || atomic_fetch_sub(&c->references, 1) > 1) return;
    gnutls_certificate_free_credentials(c->certificate);
    free(c);
}

tls_server *tls_open(const char *certificate_path, const char *key_path, char *message, size_t room) {
    tls_server *s = calloc(1, sizeof *s);
    snprintf(message, room, "out of memory");
    if (!s) return NULL;
    s->certificate_path = certificate_path;
    s->key_path = key_path;
    s->current = read_credentials(s, message, room);
    if (s->current) {
        pthread_mutex_init(&s->lock, NULL);
        return s;
    }
    free(s);
    return NULL;
}

void tls_close(tls_server *s) {
    if (!s) return;
    tls_release(s->current);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

bool tls_reload(tls_server *s, char *message, size_t room) {
    tls_credentials *fresh = read_credentials(s, message, room);
    if (!fresh) return false;
    pthread_mutex_lock(&s->lock);
    tls_credentials *old = s->current;
    s->current = fresh;
    pthread_mutex_unlock(&s->lock);
    tls_release(old);
    return true;
}

static tls_credentials *hold_current(tls_server *s) {
    pthread_mutex_lock(&s->lock);
    tls_credentials *c = s->current;
    atomic_fetch_add(&c->references, 1);
    pthread_mutex_unlock(&s->lock);
    return c;
}

int64_t tls_expires_ms(tls_server *s) {
    tls_credentials *c = hold_current(s);
    int64_t expires = c->expires_ms;
    tls_release(c);
    return expires;
}

tls_credentials *tls_attach(tls_server *s, gnutls_session_t session) {
    tls_credentials *c = hold_current(s);
    if (gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, c->certificate) >= 0) return c;
    tls_release(c);
    return NULL;
}

/* test_tls.c — HTTPS: supported versions and groups, rejected files, replacement of certificates, and the cost of
 * handshakes. */
#include "tests/http/daemon.h"

#include <arpa/inet.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static test_daemon d;
static char folder[] = P_tmpdir "/hamel-tls-XXXXXX";
static char certificate[64], key[64], other_key[64];

static void write_file(const char *path, const gnutls_datum_t *text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text->data, 1, text->size, file), text->size);
    fclose(file);
}

static gnutls_x509_privkey_t make_key(const char *path) {
    gnutls_x509_privkey_t made;
    gnutls_datum_t text;
    assert_int_equal(gnutls_x509_privkey_init(&made), 0);
    assert_int_equal(
        gnutls_x509_privkey_generate(made, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0), 0);
    assert_int_equal(gnutls_x509_privkey_export2(made, GNUTLS_X509_FMT_PEM, &text), 0);
    write_file(path, &text);
    gnutls_free(text.data);
    return made;
}

/* Creates a self-signed certificate for 127.0.0.1 and its key. */
static void make_certificate(const char *certificate_path, const char *key_path) {
    gnutls_x509_crt_t made;
    gnutls_datum_t text;
    struct in_addr address = {.s_addr = htonl(INADDR_LOOPBACK)};
    gnutls_x509_privkey_t private_key = make_key(key_path);
    assert_int_equal(gnutls_x509_crt_init(&made), 0);
    gnutls_x509_crt_set_version(made, 3);
    gnutls_x509_crt_set_serial(made, "\1", 1);
    gnutls_x509_crt_set_activation_time(made, time(NULL) - 3600);
    gnutls_x509_crt_set_expiration_time(made, time(NULL) + 3600);
    gnutls_x509_crt_set_dn_by_oid(made, GNUTLS_OID_X520_COMMON_NAME, 0, "hamel test", 10);
    gnutls_x509_crt_set_subject_alt_name(made, GNUTLS_SAN_IPADDRESS, &address, sizeof address, GNUTLS_FSAN_SET);
    gnutls_x509_crt_set_basic_constraints(made, 1, -1);
    gnutls_x509_crt_set_key(made, private_key);
    assert_int_equal(gnutls_x509_crt_sign2(made, made, private_key, GNUTLS_DIG_SHA256, 0), 0);
    assert_int_equal(gnutls_x509_crt_export2(made, GNUTLS_X509_FMT_PEM, &text), 0);
    write_file(certificate_path, &text);
    gnutls_free(text.data);
    gnutls_x509_crt_deinit(made);
    gnutls_x509_privkey_deinit(private_key);
}

static int set_up(void **state) {
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(certificate, sizeof certificate, "%s/cert.pem", folder);
    snprintf(key, sizeof key, "%s/key.pem", folder);
    snprintf(other_key, sizeof other_key, "%s/other.pem", folder);
    make_certificate(certificate, key);
    gnutls_x509_privkey_deinit(make_key(other_key));
    daemon_start(&d, (const char *const[]){"--tls-cert", certificate, "--tls-key", key, NULL});
    d.authority = certificate;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    int code = daemon_end(&d, SIGTERM);
    daemon_remove(&d);
    unlink(certificate);
    unlink(key);
    unlink(other_key);
    rmdir(folder);
    return code;
}

static void everything_is_served_over_tls(void **state) {
    (void)state;
    char system[512];
    cJSON_Delete(ask_json(&d, "GET", "/healthz", NULL, NULL, 200));
    oscillator(system, sizeof system, "secret", 100, 20001);
    const char *headers[] = {"Content-Type: application/json", "Accept: text/csv", NULL};
    answer a = ask(&d, "POST", "/v1/simulations", headers, system);
    assert_int_equal(a.status, 200);
    assert_true(a.length > 500000);
    answer_clear(&a);
    char *id = submit(&d, system);
    wait_for_status(&d, id, "completed");
    free(id);
}

static void a_client_that_does_not_trust_the_certificate_gets_nothing(void **state) {
    (void)state;
    test_daemon stranger = d;
    stranger.authority = other_key; /* this file contains a key and no certificate */
    answer a = ask(&stranger, "GET", "/healthz", NULL, NULL);
    assert_int_equal(a.status, 0);
    answer_clear(&a);
}

/* Returns the exit status of `hamel jobs` with the trusted certificates in a file. */
static int list_jobs(const char *trusted) {
    char url[64];
    const char *set = getenv("HAMEL"), *program = set && *set ? set : "build/hamel";
    snprintf(url, sizeof url, "https://127.0.0.1:%u", d.port);
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        setenv("SSL_CERT_FILE", trusted, 1);
        unsetenv("CURL_CA_BUNDLE");
        close(STDERR_FILENO);
        execl(program, program, "jobs", "--server", url, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void the_command_line_accepts_a_certificate_authority(void **state) {
    (void)state;
    assert_int_equal(list_jobs(certificate), 0);
    assert_int_equal(list_jobs(other_key), 5);
}

static void plain_http_and_noise_are_not_answered(void **state) {
    (void)state;
    static const char *const bytes[] = {"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "\x16\x03\x01\x02",
                                        "\xff\xff\xff"};
    char out[4096];
    for (size_t k = 0; k < 3; k++) {
        int s = connect_to(&d);
        size_t got = 0;
        assert_int_equal(send(s, bytes[k], strlen(bytes[k]), MSG_NOSIGNAL), strlen(bytes[k]));
        shutdown(s, SHUT_WR); /* the server need not wait for further input */
        for (ssize_t n; (n = recv(s, out + got, sizeof out - 1 - got, 0)) > 0;) got += (size_t)n;
        out[got] = '\0';
        assert_null(strstr(out, "HTTP/1.1 200"));
        close(s);
    }
    cJSON_Delete(ask_json(&d, "GET", "/healthz", NULL, NULL, 200));
}

typedef struct client {
    int socket;
    gnutls_session_t session;
    gnutls_certificate_credentials_t credentials;
} client;

/* Performs a handshake without verifying the certificate. Returns the result. */
static int client_begin(client *c, const test_daemon *server, const char *priorities) {
    c->socket = connect_to(server);
    assert_int_equal(gnutls_init(&c->session, GNUTLS_CLIENT), 0);
    assert_int_equal(gnutls_certificate_allocate_credentials(&c->credentials), 0);
    assert_int_equal(gnutls_priority_set_direct(c->session, priorities, NULL), 0);
    gnutls_credentials_set(c->session, GNUTLS_CRD_CERTIFICATE, c->credentials);
    gnutls_transport_set_int(c->session, c->socket);
    gnutls_handshake_set_timeout(c->session, (unsigned)(5000 * slowness()));
    int rc;
    do rc = gnutls_handshake(c->session);
    while (rc < 0 && !gnutls_error_is_fatal(rc));
    return rc;
}

static void client_end(client *c) {
    gnutls_deinit(c->session);
    gnutls_certificate_free_credentials(c->credentials);
    close(c->socket);
}

static int handshake(const char *priorities) {
    client c;
    int rc = client_begin(&c, &d, priorities);
    client_end(&c);
    return rc;
}

static void old_versions_are_rejected(void **state) {
    (void)state;
    assert_int_equal(handshake("NORMAL:-VERS-ALL:+VERS-TLS1.3"), 0);
    assert_int_equal(handshake("NORMAL:-VERS-ALL:+VERS-TLS1.2"), 0);
    assert_true(handshake("NORMAL:-VERS-ALL:+VERS-TLS1.1:%COMPAT") != 0);
    assert_true(handshake("NORMAL:-VERS-ALL:+VERS-TLS1.0:%COMPAT") != 0);
}

static void only_elliptic_groups_and_authenticated_ciphers_are_offered(void **state) {
    (void)state;
    static const char *const good[] = {
        "NORMAL:-GROUP-ALL:+GROUP-X25519",
        "NORMAL:-GROUP-ALL:+GROUP-SECP256R1",
        "NORMAL:-GROUP-ALL:+GROUP-SECP384R1",
        "NORMAL:-VERS-ALL:+VERS-TLS1.2:-GROUP-ALL:+GROUP-X25519",
        "NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+CHACHA20-POLY1305",
    };
    static const char *const bad[] = {
        "NORMAL:-GROUP-ALL:+GROUP-FFDHE2048",
        "NORMAL:-GROUP-ALL:+GROUP-FFDHE8192",
        "NORMAL:-GROUP-ALL:+GROUP-SECP521R1",
        "NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+DHE-RSA",
        "NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+RSA",
        "NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+AES-128-CBC:+AES-256-CBC",
        "NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+AES-128-CCM",
    };
    for (size_t k = 0; k < sizeof good / sizeof good[0]; k++) assert_int_equal(handshake(good[k]), 0);
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        if (handshake(bad[k]) == 0) print_error("accepted: %s\n", bad[k]);
        assert_true(handshake(bad[k]) != 0);
    }
}

/* ---- the cost of handshakes -------------------------------------------------------------------------------------- */

enum { FFDHE8192 = 0x0104, X25519 = 0x001d, HELLO_BYTES = 1400 };

static size_t put(unsigned char *at, size_t length, size_t bytes, size_t number) {
    for (size_t k = 0; k < bytes; k++) at[length + k] = (unsigned char)(number >> (8 * (bytes - 1 - k)));
    return length + bytes;
}

/* Writes a TLS 1.3 ClientHello with one group and a random key share. */
static size_t make_hello(unsigned char out[HELLO_BYTES], unsigned group, size_t share) {
    static const unsigned char algorithms[] = {0, 13, 0, 8, 0, 6, 4, 3, 8, 4, 8, 9};
    static const unsigned char versions[] = {0, 43, 0, 3, 2, 3, 4};
    size_t extensions = sizeof algorithms + sizeof versions + 8 + 10 + share, body = 35 + 4 + 2 + 2 + extensions;
    size_t n = put(out, 0, 3, 0x160301);
    n = put(out, n, 2, body + 4);
    n = put(out, n, 4, 0x01000000 | body);
    n = put(out, n, 2, 0x0303);
    assert_int_equal(gnutls_rnd(GNUTLS_RND_NONCE, out + n, 32), 0);
    n += 32;
    n = put(out, n, 1, 0); /* no session resumption */
    n = put(out, n, 4, 0x00021301);
    n = put(out, n, 2, 0x0100);
    n = put(out, n, 2, extensions);
    memcpy(out + n, algorithms, sizeof algorithms);
    n += sizeof algorithms;
    memcpy(out + n, versions, sizeof versions);
    n += sizeof versions;
    n = put(out, n, 8, (size_t)10 << 48 | (size_t)4 << 32 | (size_t)2 << 16 | group);
    n = put(out, n, 2, 51);
    n = put(out, n, 2, share + 6);
    n = put(out, n, 2, share + 4);
    n = put(out, n, 2, group);
    n = put(out, n, 2, share);
    assert_int_equal(gnutls_rnd(GNUTLS_RND_NONCE, out + n, share), 0);
    out[n] &= 0x7f; /* makes the key share smaller than the prime of the group */
    return n + share;
}

static int send_hello(const test_daemon *server, const char *address, unsigned group) {
    unsigned char hello[HELLO_BYTES];
    size_t length = make_hello(hello, group, group == FFDHE8192 ? 1024 : 32);
    int s = connect_from(server, address);
    (void)!send(s, hello, length, MSG_NOSIGNAL);
    return s;
}

/* Returns true if the server continues the handshake, false if it closes the connection. */
static bool is_answered(int s) {
    unsigned char type;
    wait_for_bytes(s);
    ssize_t n = recv(s, &type, 1, 0);
    close(s);
    return n == 1 && type == 22; /* handshake record */
}

/* One address sends ClientHellos while another sends regular requests, to which the daemon must respond. When the
 * daemon still accepted the group ffdhe8192, sixty ClientHellos took 16 s of CPU time. */
static void handshakes_cost_little_and_other_clients_are_served(void **state) {
    (void)state;
    enum { OPEN = 50 };
    int sockets[OPEN];
    size_t count = 0;
    assert_true(is_answered(send_hello(&d, "127.0.0.2", X25519)));
    assert_false(is_answered(send_hello(&d, "127.0.0.2", FFDHE8192)));
    double cpu = daemon_cpu_seconds(&d), slowest = 0, begin = now_seconds();
    for (double until = long_tests() ? begin + 60 : begin; count < 60 || now_seconds() < until; count++) {
        if (count >= OPEN) close(sockets[count % OPEN]);
        sockets[count % OPEN] = send_hello(&d, "127.0.0.2", count % 2 ? FFDHE8192 : X25519);
        if (count % 20 != 0) continue;
        double asked = now_seconds();
        cJSON_Delete(ask_json(&d, "GET", "/healthz", NULL, NULL, 200));
        double took = now_seconds() - asked;
        if (took > slowest) slowest = took;
        sleep_seconds(0.1);
    }
    double seconds = now_seconds() - begin;
    cpu = daemon_cpu_seconds(&d) - cpu;
    for (size_t k = 0; k < OPEN; k++) close(sockets[k]);
    print_message("%zu ClientHellos in %.1f s: %.2f s of CPU time, slowest response %.3f s\n", count, seconds, cpu,
                  slowest);
    assert_true(cpu < (1 + 0.5 * seconds) * slowness());
    assert_true(slowest < 5 * slowness());
}

static void an_unfinished_handshake_costs_nothing_while_it_waits(void **state) {
    (void)state;
    int half = connect_to(&d), whole = send_hello(&d, "127.0.0.1", X25519);
    assert_int_equal(send(half, "\x16\x03\x01\x02\x00\x01", 6, MSG_NOSIGNAL), 6);
    wait_for_bytes(whole);
    double cpu = daemon_cpu_seconds(&d);
    sleep_seconds(1);
    assert_true(daemon_cpu_seconds(&d) - cpu < 0.3);
    close(half);
    close(whole);
}

static void the_rate_of_handshakes_per_address_is_limited(void **state) {
    (void)state;
    enum { TRIES = 60 };
    test_daemon own;
    int begun = 0;
    daemon_start(&own, (const char *const[]){"--tls-cert", certificate, "--tls-key", key, "--handshakes", "1", NULL});
    own.authority = certificate;
    double begin = now_seconds();
    for (int k = 0; k < TRIES; k++) begun += is_answered(send_hello(&own, "127.0.0.2", X25519));
    double seconds = now_seconds() - begin;
    print_message("%d handshakes in %.1f s\n", begun, seconds);
    assert_true(begun >= 10); /* without waiting: max(10, 2 N) handshakes for --handshakes N */
    assert_true(begun <= 11 + seconds);
    assert_true(is_answered(send_hello(&own, "127.0.0.3", X25519)));
    assert_true(daemon_metric(&own, "hamel_rejected_total{reason=\"address\"}") >= 1);
    assert_int_equal(daemon_end(&own, SIGTERM), 0);
    daemon_remove(&own);
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static bool get_health(client *c) {
    static const char request[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char out[4096] = "";
    size_t got = 0;
    if (gnutls_record_send(c->session, request, sizeof request - 1) != sizeof request - 1) return false;
    while (!strstr(out, "\"ok\"}\n")) {
        ssize_t n = gnutls_record_recv(c->session, out + got, sizeof out - 1 - got);
        if (n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED) continue;
        if (n <= 0) return false;
        got += (size_t)n;
        out[got] = '\0';
    }
    return strncmp(out, "HTTP/1.1 200", 12) == 0;
}

static long health_trusting(test_daemon server, const char *authority) {
    server.authority = authority;
    answer a = ask(&server, "GET", "/healthz", NULL, NULL);
    long status = a.status;
    answer_clear(&a);
    return status;
}

static void replace(const char *from, const char *to) {
    assert_int_equal(rename(from, to), 0);
}

/* A connection that was opened before the change of the certificate continues. The daemon uses a new certificate and
 * key only if they are a valid pair. */
static void certificates_are_read_again_on_sighup(void **state) {
    (void)state;
    char first[80], shown[80], shown_key[80], fresh[80], fresh_key[80];
    test_daemon own;
    client before;
    snprintf(first, sizeof first, "%s/first.pem", folder);
    snprintf(shown, sizeof shown, "%s/shown.pem", folder);
    snprintf(shown_key, sizeof shown_key, "%s/shown-key.pem", folder);
    snprintf(fresh, sizeof fresh, "%s/fresh.pem", folder);
    snprintf(fresh_key, sizeof fresh_key, "%s/fresh-key.pem", folder);
    make_certificate(shown, shown_key);
    assert_int_equal(link(shown, first), 0);
    daemon_start(&own, (const char *const[]){"--tls-cert", shown, "--tls-key", shown_key, NULL});
    assert_int_equal(client_begin(&before, &own, "NORMAL"), 0);
    assert_true(get_health(&before));

    make_certificate(fresh, fresh_key);
    replace(fresh_key, shown_key); /* only the key is replaced, so the certificate and the key do not match */
    kill(own.pid, SIGHUP);
    wait_for_log(&own, "the former certificate remains in use");
    assert_int_equal(health_trusting(own, first), 200);
    replace(fresh, shown);
    kill(own.pid, SIGHUP);
    wait_for_log(&own, "\"expires\":\"2");
    assert_int_equal(health_trusting(own, shown), 200);
    assert_int_equal(health_trusting(own, first), 0);
    assert_true(get_health(&before));
    for (int k = 0; k < 50; k++) { /* replace the files during requests */
        make_certificate(shown, shown_key);
        kill(own.pid, SIGHUP);
        client c;
        assert_int_equal(client_begin(&c, &own, "NORMAL"), 0);
        assert_true(get_health(&c));
        client_end(&c);
    }
    client_end(&before);
    assert_int_equal(daemon_end(&own, SIGTERM), 0);
    daemon_remove(&own);
    unlink(first);
    unlink(shown);
    unlink(shown_key);
}

static void files_that_do_not_match_are_rejected_at_the_start(void **state) {
    (void)state;
    char output[1000];
    const char *wrong[] = {"--tls-cert", certificate, "--tls-key", other_key, NULL};
    const char *none[] = {"--tls-cert", "/nonexistent", "--tls-key", key, NULL};
    const char *swapped[] = {"--tls-cert", key, "--tls-key", certificate, NULL};
    const char *half[] = {"--tls-cert", certificate, NULL};
    const char *const *all[] = {wrong, none, swapped, half};
    for (size_t k = 0; k < 4; k++) {
        assert_int_equal(daemon_run(all[k], output, sizeof output), 2);
        assert_non_null(strstr(output, "--tls-"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_served_over_tls),
        cmocka_unit_test(a_client_that_does_not_trust_the_certificate_gets_nothing),
        cmocka_unit_test(the_command_line_accepts_a_certificate_authority),
        cmocka_unit_test(plain_http_and_noise_are_not_answered),
        cmocka_unit_test(old_versions_are_rejected),
        cmocka_unit_test(only_elliptic_groups_and_authenticated_ciphers_are_offered),
        cmocka_unit_test(handshakes_cost_little_and_other_clients_are_served),
        cmocka_unit_test(an_unfinished_handshake_costs_nothing_while_it_waits),
        cmocka_unit_test(the_rate_of_handshakes_per_address_is_limited),
        cmocka_unit_test(certificates_are_read_again_on_sighup),
        cmocka_unit_test(files_that_do_not_match_are_rejected_at_the_start),
    };
    return cmocka_run_group_tests_name("tls", tests, set_up, tear_down);
}

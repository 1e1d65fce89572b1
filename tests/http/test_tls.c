/* test_tls.c — HTTPS: what is served over it, which versions, and which files are refused. */
#include "tests/http/daemon.h"

#include <arpa/inet.h>
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

/* One that signs itself, for 127.0.0.1. */
static void make_certificate(void) {
    gnutls_x509_crt_t made;
    gnutls_datum_t text;
    struct in_addr address = {.s_addr = htonl(INADDR_LOOPBACK)};
    gnutls_x509_privkey_t private_key = make_key(key);
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
    write_file(certificate, &text);
    gnutls_free(text.data);
    gnutls_x509_crt_deinit(made);
    gnutls_x509_privkey_deinit(private_key);
    gnutls_x509_privkey_deinit(make_key(other_key));
}

static int set_up(void **state) {
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(certificate, sizeof certificate, "%s/cert.pem", folder);
    snprintf(key, sizeof key, "%s/key.pem", folder);
    snprintf(other_key, sizeof other_key, "%s/other.pem", folder);
    make_certificate();
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

static void a_client_that_does_not_trust_it_gets_nothing(void **state) {
    (void)state;
    test_daemon stranger = d;
    stranger.authority = other_key; /* holds no certificate */
    answer a = ask(&stranger, "GET", "/healthz", NULL, NULL);
    assert_int_equal(a.status, 0);
    answer_clear(&a);
}

/* Exit code of `hamel jobs` that trusts the certificates in a file. */
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

static void the_command_line_can_be_told_whom_to_trust(void **state) {
    (void)state;
    assert_int_equal(list_jobs(certificate), 0);
    assert_int_equal(list_jobs(other_key), 5);
}

static void plain_http_and_noise_are_not_answered(void **state) {
    (void)state;
    static const char *const bytes[] = {"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", "\x16\x03\x01\x02", "\xff\xff\xff"};
    char out[4096];
    for (size_t k = 0; k < 3; k++) {
        int s = connect_to(&d);
        size_t got = 0;
        assert_int_equal(send(s, bytes[k], strlen(bytes[k]), MSG_NOSIGNAL), strlen(bytes[k]));
        shutdown(s, SHUT_WR); /* there is no more to wait for */
        for (ssize_t n; (n = recv(s, out + got, sizeof out - 1 - got, 0)) > 0;) got += (size_t)n;
        out[got] = '\0';
        assert_null(strstr(out, "HTTP/1.1 200"));
        close(s);
    }
    cJSON_Delete(ask_json(&d, "GET", "/healthz", NULL, NULL, 200));
}

static int handshake(const char *priorities) {
    gnutls_session_t session;
    gnutls_certificate_credentials_t credentials;
    int s = connect_to(&d);
    assert_int_equal(gnutls_init(&session, GNUTLS_CLIENT), 0);
    assert_int_equal(gnutls_certificate_allocate_credentials(&credentials), 0);
    assert_int_equal(gnutls_priority_set_direct(session, priorities, NULL), 0);
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials);
    gnutls_transport_set_int(session, s);
    gnutls_handshake_set_timeout(session, 5000);
    int rc;
    do rc = gnutls_handshake(session);
    while (rc < 0 && !gnutls_error_is_fatal(rc));
    gnutls_deinit(session);
    gnutls_certificate_free_credentials(credentials);
    close(s);
    return rc;
}

static void old_versions_are_refused(void **state) {
    (void)state;
    assert_int_equal(handshake("NORMAL:-VERS-ALL:+VERS-TLS1.3"), 0);
    assert_int_equal(handshake("NORMAL:-VERS-ALL:+VERS-TLS1.2"), 0);
    assert_true(handshake("NORMAL:-VERS-ALL:+VERS-TLS1.1:%COMPAT") != 0);
    assert_true(handshake("NORMAL:-VERS-ALL:+VERS-TLS1.0:%COMPAT") != 0);
}

static void files_that_do_not_fit_are_refused_at_the_start(void **state) {
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
        cmocka_unit_test(a_client_that_does_not_trust_it_gets_nothing),
        cmocka_unit_test(the_command_line_can_be_told_whom_to_trust),
        cmocka_unit_test(plain_http_and_noise_are_not_answered),
        cmocka_unit_test(old_versions_are_refused),
        cmocka_unit_test(files_that_do_not_fit_are_refused_at_the_start),
    };
    return cmocka_run_group_tests_name("tls", tests, set_up, tear_down);
}

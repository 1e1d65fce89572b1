/* address_limits.c — table of client addresses; see address_limits.h. */
#include "server/http/address_limits.h"

#include "server/clock.h"

#include <math.h>
#include <netinet/in.h>
#include <nettle/sha2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 4096 };

struct address_row {
    bucket costs[ADDRESS_COSTS];
    double connections;
};

struct address_limits {
    double connections;                               /* 0: no limit */
    double rates[ADDRESS_COSTS], most[ADDRESS_COSTS]; /* a rate of 0 means no limit */
    char secret[RANDOM_ID_BYTES]; /* random key of the hash, so that clients cannot choose to share a row */
    address_row rows[ROWS];
};

address_limits *address_limits_open(double connections, double handshakes_per_second) {
    address_limits *a = calloc(1, sizeof *a);
    if (!a || !random_id(a->secret)) {
        free(a);
        return NULL;
    }
    a->connections = connections;
    /* An address may send twenty wrong tokens at once, and then one every five seconds. The limit bounds the load from
     * clients with wrong tokens. Guessing is infeasible at any rate, since a token has 256 random bits. */
    a->rates[ADDRESS_WRONG_TOKEN] = 0.2;
    a->most[ADDRESS_WRONG_TOKEN] = 20;
    /* A client may open as many connections at once as the rate allows in two seconds. The minimum of ten exceeds the
     * number of connections that a browser opens at once, which is usually six. */
    a->rates[ADDRESS_HANDSHAKE] = handshakes_per_second;
    a->most[ADDRESS_HANDSHAKE] = fmax(10, 2 * handshakes_per_second);
    return a;
}

static size_t row_of(const address_limits *a, const struct sockaddr *address) {
    const struct sockaddr_in *four = (const struct sockaddr_in *)address;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
    bool is_six = address->sa_family == AF_INET6;
    uint8_t digest[4];
    struct sha256_ctx hash;
    sha256_init(&hash);
    sha256_update(&hash, sizeof a->secret, (const uint8_t *)a->secret);
    sha256_update(&hash, is_six ? 8 : 4, is_six ? six->sin6_addr.s6_addr : (const uint8_t *)&four->sin_addr);
    sha256_digest(&hash, sizeof digest, digest);
    uint32_t number;
    memcpy(&number, digest, sizeof number);
    return number % ROWS;
}

bool address_limits_take(address_limits *a, address_cost cost, const struct sockaddr *address, double *seconds) {
    if (a->rates[cost] <= 0) return true;
    return bucket_take(&a->rows[row_of(a, address)].costs[cost], a->rates[cost], a->most[cost], seconds);
}

bool address_limits_full(const address_limits *a, const struct sockaddr *address) {
    return a->connections > 0 && a->rows[row_of(a, address)].connections >= a->connections;
}

address_row *address_limits_enter(address_limits *a, const struct sockaddr *address) {
    address_row *row = &a->rows[row_of(a, address)];
    row->connections++;
    return row;
}

void address_limits_leave(address_row *row) {
    if (row) row->connections--;
}

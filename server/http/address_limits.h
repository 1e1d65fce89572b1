/* address_limits.h — how often clients at one address may do what costs the daemon before any token is known.
 *
 * The table has a fixed size: addresses that share a row by their keyed hash share its allowance, so that no number of
 * addresses takes more memory. IPv6 addresses count by their /64, which is what one customer gets. */
#ifndef HAMEL_SERVER_HTTP_ADDRESS_LIMITS_H
#define HAMEL_SERVER_HTTP_ADDRESS_LIMITS_H

#include <stdbool.h>
#include <sys/socket.h>

typedef enum address_cost { ADDRESS_WRONG_TOKEN, ADDRESS_HANDSHAKE, ADDRESS_COSTS } address_cost;

typedef struct address_limits address_limits;

/* 0 handshakes a second: any number. NULL without memory or random bytes. */
address_limits *address_limits_open(double handshakes_per_second);
void address_limits_close(address_limits *a);

/* Takes one from the allowance of an address, or returns false with the seconds after which to try again. Called by one
 * thread at a time. */
bool address_limits_take(address_limits *a, address_cost cost, const struct sockaddr *address, double *seconds);

#endif

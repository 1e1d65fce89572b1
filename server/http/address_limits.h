/* address_limits.h — how many connections clients at one address may have, and how often they may do what costs the daemon
 * before any token is known.
 *
 * The table has a fixed size: addresses that share a row by their keyed hash share its allowance, so that no number of
 * addresses takes more memory. IPv6 addresses count by their /64, which is what one customer gets. */
#ifndef HAMEL_SERVER_HTTP_ADDRESS_LIMITS_H
#define HAMEL_SERVER_HTTP_ADDRESS_LIMITS_H

#include <stdbool.h>
#include <sys/socket.h>

typedef enum address_cost { ADDRESS_WRONG_TOKEN, ADDRESS_HANDSHAKE, ADDRESS_COSTS } address_cost;

typedef struct address_limits address_limits;
typedef struct address_row address_row;

/* 0: any number. Returns NULL without memory or random bytes. The functions below are called by one thread at a time. */
address_limits *address_limits_open(double connections, double handshakes_per_second);
void address_limits_close(address_limits *a); /* after the last connection has left */

/* Takes one from the allowance of an address, or returns false with the seconds after which to try again. */
bool address_limits_take(address_limits *a, address_cost cost, const struct sockaddr *address, double *seconds);

/* Whether another connection of the address has to be refused; and the connections that there are. */
bool address_limits_full(const address_limits *a, const struct sockaddr *address);
address_row *address_limits_enter(address_limits *a, const struct sockaddr *address);
void address_limits_leave(address_row *row); /* NULL: nothing */

#endif

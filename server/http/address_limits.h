/* address_limits.h — limits for each client address: connections, and expensive operations that precede the check of a
 * token.
 *
 * The table has a fixed size, so its memory does not depend on the number of addresses. Addresses with the same keyed
 * hash share a row and its allowance. IPv6 addresses are counted by /64, the usual prefix of one customer. */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

typedef enum address_cost { ADDRESS_WRONG_TOKEN, ADDRESS_HANDSHAKE, ADDRESS_COSTS } address_cost;

typedef struct address_limits address_limits;
typedef struct address_row address_row;

/* For both limits 0 means no limit. Returns NULL if out of memory or if the kernel returns no random bytes. The caller
 * frees the table after the last call of address_limits_leave. The functions below are not thread-safe. */
address_limits *address_limits_open(double connections, double handshakes_per_second);

/* Takes one operation from the allowance of an address. If the allowance is used up, returns false and sets *seconds to
 * the time after which to retry. */
bool address_limits_take(address_limits *a, address_cost cost, const struct sockaddr *address, double *seconds);

/* Returns true if the address has used up its connections. address_limits_enter and _leave count the connections. */
bool address_limits_full(const address_limits *a, const struct sockaddr *address);
address_row *address_limits_enter(address_limits *a, const struct sockaddr *address);
void address_limits_leave(address_row *row); /* no-op for NULL */

/* simbody_chain.h — a chain of pendulums integrated by Simbody, for bench_trees.c. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#include <stdbool.h>
#include <stddef.h>

typedef struct simbody_chain_result {
    double create, run; /* processor time in seconds: to create the system and its initial state, and to integrate */
    double steps;
    double tip[2]; /* position of the last mass at the end */
} simbody_chain_result;

/* Integrates a chain of unit masses on links of length 1 over `stop` seconds, by the Runge–Kutta–Merson method. At the
 * start, all links are at rest at the angle 0.8. The `rows` outputs are equally spaced. Returns false after printing
 * the reason if Simbody fails. Programs may declare this function as weak and link without Simbody. */
bool simbody_chain(size_t links, double stop, size_t rows, double accuracy, simbody_chain_result *out);

#ifdef __cplusplus
}
#endif

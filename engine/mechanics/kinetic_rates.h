/* kinetic_rates.h — the rates K', K'', K''' of a function K(t, q, q'), such as the kinetic energy, and the operators of
 * Nielsen, Tsenov, and Mangeron and Deleanu (Papastavridis, introduction, 6):
 *
 *     E_k(K) = d/dt ∂K/∂q'_k − ∂K/∂q_k = (∂K^(m)/∂q_k^(m) − (m + 1) ∂K/∂q_k)/m
 *     m = 1 Nielsen     ∂K'/∂q'_k − 2 ∂K/∂q_k
 *     m = 2 Tsenov      (∂K''/∂q''_k − 3 ∂K/∂q_k)/2
 *     m = 3             (∂K'''/∂q'''_k − 4 ∂K/∂q_k)/3
 *
 * Proof: for every function F of t, q, q', ..., ∂F'/∂q^(j) = d/dt ∂F/∂q^(j) + ∂F/∂q^(j − 1). K^(m − 1) depends on q^(m)
 * only by the term Σ_r ∂K/∂q'_r q_r^(m), so ∂K^(m − 1)/∂q_k^(m) = ∂K/∂q'_k. With F = K^(m − 1) and j = m this gives
 * ∂K^(m)/∂q_k^(m) = d/dt ∂K/∂q'_k + ∂K^(m − 1)/∂q_k^(m − 1) = m d/dt ∂K/∂q'_k + ∂K/∂q_k. The derivative therefore
 * contains no derivatives of q above the second: the terms of K^(m) in q^(m + 1) cancel. */
#pragma once

#include "engine/system/system.h"

enum { KINETIC_RATES_MOST = 3 }; /* highest order m */

typedef struct kinetic_rates {
    int order; /* m */
    /* The derivative q_k^(j + 1) with j ≥ 2 is the velocity symbol j · stride + k. q_k' and q_k'' are the usual symbols. */
    size_t stride;
    graph_node rate[KINETIC_RATES_MOST + 1]; /* rate[j] = K^(j) */
    graph_node *upper;                       /* n: ∂K^(m)/∂q^(m), in (t, q, q', q'') */
    graph_node *lower;                       /* n: ∂K/∂q */
} kinetic_rates;

/* Derives the rates and their derivatives in the graph of `s`. All indices of velocity symbols in use must be below
 * `stride`. Returns false if out of memory or if a node cannot be created (equations_status). */
bool kinetic_rates_derive(kinetic_rates *out, hamel_system *s, graph_node function, int order, size_t stride);

/* Returns E_k(K) of coordinate k, computed from the rate of order m. */
graph_node kinetic_rates_operator(const kinetic_rates *rates, hamel_system *s, size_t k);

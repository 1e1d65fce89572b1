/* kinetic_rates.h — the rates K', K'', K''' of a function K(t, q, q'), such as the kinetic energy. The operators of
 * Nielsen, Tsenov, and Mangeron and Deleanu are derivatives of these rates (Papastavridis, introduction, 6):
 *
 *     E_k(K) = d/dt ∂K/∂q'_k − ∂K/∂q_k = (∂K^(m)/∂q_k^(m) − (m + 1) ∂K/∂q_k)/m
 *     m = 1, Nielsen                 ∂K'/∂q'_k − 2 ∂K/∂q_k
 *     m = 2, Tsenov                  (∂K''/∂q''_k − 3 ∂K/∂q_k)/2
 *     m = 3, Mangeron and Deleanu     (∂K'''/∂q'''_k − 4 ∂K/∂q_k)/3
 *
 * Proof: every function F of t, q, q', ... satisfies ∂F'/∂q^(j) = d/dt ∂F/∂q^(j) + ∂F/∂q^(j − 1). For m ≥ 2, K^(m − 1)
 * contains q^(m) only in the term Σ_r ∂K/∂q'_r q_r^(m). For all m ≥ 1, therefore, ∂K^(m − 1)/∂q_k^(m) = ∂K/∂q'_k. With
 * F = K^(m − 1) and j = m, ∂K^(m)/∂q_k^(m) = d/dt ∂K/∂q'_k + ∂K^(m − 1)/∂q_k^(m − 1). By induction on m, this
 * derivative equals m d/dt ∂K/∂q'_k + ∂K/∂q_k. It therefore contains no derivatives of q above the second. */
#pragma once

#include "engine/system/system.h"

enum { KINETIC_RATES_MOST = 3 }; /* highest order m */

typedef struct kinetic_rates {
    int order; /* m */
    /* The velocity symbol with index j · stride + k represents q_k^(j + 1) for j ≥ 2. The symbols of q' and q'' are
     * those of the system. */
    size_t stride;
    graph_node rate[KINETIC_RATES_MOST + 1]; /* rate[j] = K^(j) */
    graph_node *upper;                       /* upper[n]: ∂K^(m)/∂q^(m), a function of (t, q, q', q'') */
    graph_node *lower;                       /* lower[n]: ∂K/∂q */
} kinetic_rates;

/* Derives rate[0] to rate[order], `upper` and `lower` for K = `function`, in the graph of `s`. `stride` must exceed the
 * indices of all velocity symbols in use. Returns false if out of memory or if a node cannot be created
 * (equations_status). */
bool kinetic_rates_derive(kinetic_rates *out, hamel_system *s, graph_node function, int order, size_t stride);

/* Returns E_k(K) for coordinate k, computed from `upper` and `lower`. */
graph_node kinetic_rates_operator(const kinetic_rates *rates, hamel_system *s, size_t k);

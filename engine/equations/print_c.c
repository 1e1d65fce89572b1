/* print_c.c — prints the equations as C functions that compute the rates of the state.
 *
 * q' is explicit. w' and λ are the solution z of K z = f with K = ∂residual/∂z and f = −residual(z = 0); the printed code
 * solves this system at each state. Common subexpressions are computed once. */
#include "engine/equations/written.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

static const char preamble[] =
    "#include <math.h>\n"
    "\n"
    "static inline double sign(double x) {\n"
    "    return (x > 0) - (x < 0);\n"
    "}\n"
    "static inline double mod(double x, double y) {\n"
    "    return x - y * floor(x / y);\n"
    "}\n"
    "\n"
    "/* 1 over the largest of n entries, or 1. */\n"
    "static double unit(int n, const double *entry, int step) {\n"
    "    double largest = 0;\n"
    "    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(entry[i * step]));\n"
    "    return largest > 0 ? 1 / largest : 1;\n"
    "}\n"
    "\n"
    "/* K z = f, n by n, row by row, by elimination with complete pivoting of rows and columns in units of their own; "
    "K "
    "and f\n"
    " * are overwritten. Unknowns that the equations leave open (multipliers of redundant constraints) become 0. "
    "Returns "
    "the\n"
    " * number of them. */\n"
    "static int solve(int n, double *K, double *f, double *z) {\n"
    "    int column[SIZE], rank = 0;\n"
    "    double size[SIZE], largest = 0;\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        double scale = unit(n, K + i * n, 1);\n"
    "        for (int j = 0; j < n; j++) K[i * n + j] *= scale;\n"
    "        f[i] *= scale;\n"
    "    }\n"
    "    for (int j = 0; j < n; j++) {\n"
    "        size[j] = unit(n, K + j, n);\n"
    "        for (int i = 0; i < n; i++) K[i * n + j] *= size[j];\n"
    "        column[j] = j;\n"
    "    }\n"
    "    for (; rank < n; rank++) {\n"
    "        int row = rank, at = rank;\n"
    "        for (int i = rank; i < n; i++)\n"
    "            for (int j = rank; j < n; j++)\n"
    "                if (fabs(K[i * n + column[j]]) > fabs(K[row * n + column[at]])) row = i, at = j;\n"
    "        double pivot = K[row * n + column[at]];\n"
    "        if (rank == 0) largest = fabs(pivot);\n"
    "        if (!(fabs(pivot) > 1e-8 * largest)) break; /* rows that depend on others, at a state off by rounding or "
    "drift */\n"
    "        int swapped = column[rank];\n"
    "        column[rank] = column[at];\n"
    "        column[at] = swapped;\n"
    "        for (int j = 0; j < n && row != rank; j++) {\n"
    "            double x = K[row * n + j];\n"
    "            K[row * n + j] = K[rank * n + j];\n"
    "            K[rank * n + j] = x;\n"
    "        }\n"
    "        double right = f[row];\n"
    "        f[row] = f[rank];\n"
    "        f[rank] = right;\n"
    "        for (int i = rank + 1; i < n; i++) {\n"
    "            double factor = K[i * n + column[rank]] / pivot;\n"
    "            if (factor == 0) continue;\n"
    "            for (int j = rank; j < n; j++) K[i * n + column[j]] -= factor * K[rank * n + column[j]];\n"
    "            f[i] -= factor * f[rank];\n"
    "        }\n"
    "    }\n"
    "    for (int j = 0; j < n; j++) z[j] = 0;\n"
    "    for (int i = rank - 1; i >= 0; i--) {\n"
    "        double sum = f[i];\n"
    "        for (int j = i + 1; j < rank; j++) sum -= K[i * n + column[j]] * z[column[j]];\n"
    "        z[column[i]] = sum / K[i * n + column[i]];\n"
    "    }\n"
    "    for (int j = 0; j < n; j++) z[j] *= size[j];\n"
    "    return n - rank;\n"
    "}\n"
    "\n";

/* Prints an identifier. Characters that C does not allow become '_'; the index then keeps different names distinct. */
static void identifier(const char *prefix, const char *name, int32_t index, text_buffer *out) {
    bool changed = false;
    text_buffer_puts(out, prefix);
    for (const char *c = name; *c; c++) {
        bool plain = isalnum((unsigned char)*c) || *c == '_';
        changed |= !plain;
        text_buffer_add(out, plain ? c : "_", 1);
    }
    if (changed) text_buffer_printf(out, "_%d", (int)index);
}

static void c_namer(void *context, graph_symbol_kind kind, int32_t index, text_buffer *out) {
    const written *w = context;
    const hamel_system *s = w->system;
    bool extra = kind == SYMBOL_VELOCITY && (size_t)index >= w->n;
    switch (kind) {
    case SYMBOL_TIME: text_buffer_puts(out, "t"); return;
    case SYMBOL_COORDINATE: identifier("q_", s->coordinates[index].name, index, out); return;
    case SYMBOL_VELOCITY:
        identifier("v_", extra ? w->extra_names[(size_t)index - w->n] : s->coordinates[index].name, index, out);
        return;
    case SYMBOL_PARAMETER:
        if ((size_t)index < s->parameter_count)
            identifier("p_", s->parameter_names[index], index, out);
        else
            text_buffer_printf(out, "z%d", (int)((size_t)index - s->parameter_count) + 1);
        return;
    default: text_buffer_printf(out, "unknown_%d_%d", (int)kind, (int)index); return;
    }
}

static void print_node(const written *w, graph_node node, text_buffer *out) {
    graph_print_c(w->system->graph, node, c_namer, (void *)w, out);
}

/* Prints a text inside a comment: one line, without comment delimiters. */
static void comment(const char *text, text_buffer *out) {
    for (const char *c = text; *c && *c != '\n' && *c != '\r'; c++)
        if (!(c[0] == '/' && c > text && c[-1] == '*') && !(c[0] == '/' && c[1] == '*')) text_buffer_add(out, c, 1);
}

/* Prints `const double q_x = q[0];` and the like, for each of the symbols values[value_count] of `kind` that occurs. */
static void locals(const written *w, const graph_node *below, size_t count, graph_symbol_kind kind,
                   const graph_node *values, size_t value_count, const char *array, text_buffer *out) {
    const graph *g = w->system->graph;
    for (size_t i = 0; i < value_count; i++)
        for (size_t k = 0; k < count; k++) {
            const graph_cell *cell = graph_at(g, below[k]);
            if (below[k] != values[i] || cell->kind != kind) continue;
            text_buffer_puts(out, "    const double ");
            c_namer((void *)w, kind, cell->as.index, out);
            text_buffer_printf(out, " = %s[%zu];\n", array, i);
        }
}

static void parameters(const written *w, const graph_node *below, size_t count, text_buffer *out) {
    const graph *g = w->system->graph;
    for (size_t k = 0; k < count; k++) {
        const graph_cell *cell = graph_at(g, below[k]);
        if (cell->op != GRAPH_IS_SYMBOL || cell->kind != SYMBOL_PARAMETER) continue;
        if ((size_t)cell->as.index >= w->system->parameter_count) continue;
        text_buffer_puts(out, "    const double ");
        c_namer((void *)w, SYMBOL_PARAMETER, cell->as.index, out);
        text_buffer_puts(out, " = ");
        text_buffer_number(out, w->system->parameter_values[cell->as.index]);
        text_buffer_puts(out, ";\n");
    }
}

/* Prints the local variables and common subexpressions that values[count] need; the caller prints the values. */
static bool body(written *w, graph_node *values, size_t count, const graph_node *velocities, size_t velocity_count,
                 const char *array, text_buffer *out) {
    graph_node *below, *definitions, **places = arena_alloc(w->memory, count, sizeof *places);
    size_t found, below_count = count ? graph_below(w->system->graph, values, count, w->memory, &below) : 0;
    if (!places || (count && below_count == 0)) return false;
    for (size_t k = 0; k < below_count; k++) {
        const graph_cell *cell = graph_at(w->system->graph, below[k]);
        bool beyond = cell->op == GRAPH_IS_SYMBOL && cell->kind != SYMBOL_PARAMETER && cell->kind > SYMBOL_VELOCITY;
        if (beyond)
            return written_cannot(w, "forces depend on reactions otherwise than linearly",
                                  "use --format text or --format latex");
    }
    parameters(w, below, below_count, out);
    locals(w, below, below_count, SYMBOL_COORDINATE, w->system->q, w->n, "q", out);
    locals(w, below, below_count, SYMBOL_VELOCITY, velocities, velocity_count, array, out);
    for (size_t k = 0; k < count; k++) places[k] = &values[k];
    if (!written_share(w, places, count, false, &definitions, &found)) return false;
    for (size_t k = 0; k < found; k++) {
        text_buffer_printf(out, "    const double z%zu = ", k + 1);
        print_node(w, definitions[k], out);
        text_buffer_puts(out, ";\n");
    }
    return true;
}

static void assign(const written *w, const char *array, size_t index, graph_node node, text_buffer *out) {
    text_buffer_printf(out, "    %s[%zu] = ", array, index);
    print_node(w, node, out);
    text_buffer_puts(out, ";\n");
}

/* Returns a remark on projections that the integrating program must add, or NULL if it needs no projection. */
static const char *drift_of(const written *w) {
    bool holonomic = false;
    for (size_t c = 0; c < w->m; c++)
        holonomic |= w->acts[c] && w->system->constraints[c].order == CONSTRAINT_HOLONOMIC;
    if (w->with_multipliers && w->acting > 0)
        return "Integration drifts off the constraints, which these equations contain only as derivatives:\n"
               " * project q and w onto the constraints between steps.";
    return holonomic
               ? "Integration drifts off the holonomic constraints, of which these equations contain only the rates:"
                 "\n * project q onto these constraints between steps."
               : NULL;
}

static void heading(const written *w, text_buffer *out) {
    const hamel_system *s = w->system;
    text_buffer_puts(out, "/* ");
    comment(w->model->header.name ? w->model->header.name : "", out);
    text_buffer_printf(out, ": equations of motion, %s.\n *\n", w->model->formulation->name);
    if (written_remark(w)) text_buffer_printf(out, " * %s\n *\n", written_remark(w));
    if (drift_of(w)) text_buffer_printf(out, " * %s\n *\n", drift_of(w));
    text_buffer_puts(out, " * q:");
    for (size_t i = 0; i < w->n; i++) text_buffer_printf(out, " %s", s->coordinates[i].name);
    text_buffer_puts(out, "\n * w:");
    for (size_t r = 0; r < w->w_count; r++) {
        text_buffer_puts(out, " ");
        written_namer((void *)w, SYMBOL_VELOCITY, graph_at(s->graph, w->w[r])->as.index, out);
    }
    text_buffer_puts(out, w->with_multipliers ? "\n * lambda:" : "\n * lambda: none in this formulation");
    for (size_t c = 0; c < w->m && w->with_multipliers; c++)
        if (w->acts[c]) text_buffer_printf(out, " %s", s->constraints[c].name);
    text_buffer_printf(out, " */\nenum { COORDINATES = %zu, VELOCITIES = %zu, MULTIPLIERS = %zu, SIZE = %zu };\n", w->n,
                       w->w_count, w->unknown_count - w->w_count, w->unknown_count ? w->unknown_count : 1);
}

/* Prints the C function velocities(t, q, v, w), which computes w from v = q'. */
static bool print_velocities(written *w, text_buffer *out) {
    text_buffer_puts(out, "/* w of the coordinates' velocities v = q'. */\n"
                          "void velocities(double t, const double *q, const double *v, double *w) {\n"
                          "    (void)t, (void)q, (void)v;\n");
    if (!body(w, w->w_given, w->w_count, w->system->v, w->n, "v", out)) return false;
    for (size_t r = 0; r < w->w_count; r++) assign(w, "w", r, w->w_given[r], out);
    text_buffer_puts(out, "}\n\n");
    return true;
}

/* Sets f to −residual at z = 0; residuals are linear in z. */
static bool at_zero(written *w, graph_node *f) {
    graph *g = w->system->graph;
    size_t most = w->n + w->extra_count, count = most > w->m ? most : w->m;
    const graph_node *zeros = node_array(w->system, count);
    if (!zeros) return false;
    for (size_t i = 0; i < w->unknown_count; i++) {
        f[i] = graph_substitute(g, w->residuals[i], SYMBOL_ACCELERATION, zeros, most);
        f[i] = graph_neg(g, graph_substitute(g, f[i], SYMBOL_MULTIPLIER, zeros, w->m));
    }
    return graph_status(g) == HAMEL_OK;
}

/* Returns q', K, f and the divisors in one list, so that they share subexpressions. */
static graph_node *machine_values(written *w, size_t *count) {
    assert(w->unknown_count >= w->w_count);
    graph *g = w->system->graph;
    size_t z = w->unknown_count;
    *count = w->n + z * z + z + w->divisor_count;
    graph_node *values = arena_alloc(w->memory, *count, sizeof *values);
    if (!values) return NULL;
    memcpy(values, w->rates, w->n * sizeof *values);
    for (size_t i = 0; i < z; i++)
        for (size_t j = 0; j < z; j++) values[w->n + i * z + j] = graph_partial(g, w->residuals[i], w->unknowns[j]);
    for (size_t k = 0; k < w->divisor_count; k++) values[w->n + z * z + z + k] = w->divisors[k].node;
    return at_zero(w, values + w->n + z * z) ? values : NULL;
}

/* Smallest divisor accepted, relative to its initial value. At this bound the rates lose six of sixteen digits. */
#define DIVISOR_LEAST "1e-6"

/* Prints the description of `rates` and lists the divisors. */
static void describe_rates(const written *w, text_buffer *out) {
    text_buffer_puts(out, "/* q', w' and the multipliers of a state. Returns 0, or 1 where w' is not determined");
    if (w->divisor_count > 0)
        text_buffer_puts(
            out,
            ",\n"
            " * or 2 where a divisor is below " DIVISOR_LEAST " of its value at the start, or has changed its sign.\n"
            " * These equations are solved for velocities once, at the start: a step across the zero of a divisor\n"
            " * leads to another motion. Stop there, and write the equations from a start beyond it or\n"
            " * with --formulation lagrange, which has no such divisors.\n"
            " * Divisors");
    for (size_t k = 0; k < w->divisor_count; k++) {
        text_buffer text;
        text_buffer_init(&text, 1000);
        graph_print(w->system->graph, w->divisors[k].node, written_namer, (void *)w, &text);
        text_buffer_puts(out, k == 0 ? ":\n *   " : "\n *   ");
        comment(text.failed || !text.bytes ? "an expression too long to show" : text.bytes, out);
        text_buffer_puts(out, ", of ");
        comment(w->divisors[k].of, out);
        text_buffer_free(&text);
    }
    text_buffer_puts(out, w->divisor_count > 0 ? " */\n" : ". */\n");
}

/* Prints the checks of the divisors; `divisors` are those in the list of machine_values. */
static void check_divisors(const written *w, const graph_node *divisors, text_buffer *out) {
    for (size_t k = 0; k < w->divisor_count; k++) {
        text_buffer_puts(out, "    if (!((");
        print_node(w, divisors[k], out);
        text_buffer_puts(out, ")/(");
        text_buffer_number(out, w->divisors[k].start);
        text_buffer_puts(out, ") > " DIVISOR_LEAST ")) return 2;\n");
    }
}

/* Prints the C function `rates`. Multipliers may be undetermined if no force depends on them. */
static bool print_rates(written *w, text_buffer *out) {
    size_t count, z = w->unknown_count;
    graph_node *values = machine_values(w, &count);
    if (!values) return false;
    describe_rates(w, out);
    text_buffer_puts(out, "int rates(double t, const double *q, const double *w, double *q_dot, double *w_dot, "
                          "double *lambda) {\n    double K[SIZE * SIZE] = {0}, f[SIZE], z[SIZE];\n"
                          "    (void)t, (void)q, (void)w, (void)lambda;\n");
    if (!body(w, values, count, w->w, w->w_count, "w", out)) return false;
    check_divisors(w, values + w->n + z * z + z, out);
    for (size_t i = 0; i < w->n; i++) assign(w, "q_dot", i, values[i], out);
    for (size_t k = 0; k < z * z; k++)
        if (!graph_is_zero(w->system->graph, values[w->n + k])) assign(w, "K", k, values[w->n + k], out);
    for (size_t i = 0; i < z; i++) assign(w, "f", i, values[w->n + z * z + i], out);
    text_buffer_puts(out, "    int open = solve(SIZE, K, f, z);\n"
                          "    for (int i = 0; i < VELOCITIES; i++) w_dot[i] = z[i];\n"
                          "    for (int i = 0; i < MULTIPLIERS; i++) lambda[i] = z[VELOCITIES + i];\n");
    text_buffer_printf(out, "    return open > %s;\n}\n", written_forces_depend_on_reactions(w) ? "0" : "MULTIPLIERS");
    return true;
}

/* Prescribed forces of non-ideal constraints may contain the reactions that ideal constraints alone would exert
 * (Udwadia 2000). They differ from the multipliers of the system K z = f, although they have the same names. */
static bool prescribes_by_ideal_reactions(const written *w) {
    unsigned reactions =
        GRAPH_DEPENDS(SYMBOL_MULTIPLIER) | GRAPH_DEPENDS(SYMBOL_IDEAL) | GRAPH_DEPENDS(SYMBOL_NONIDEAL);
    for (size_t i = 0; w->equations.nonideal && i < w->n; i++)
        if (graph_depends(w->system->graph, w->equations.nonideal[i]) & reactions) return true;
    return false;
}

bool print_c(written *w, text_buffer *out) {
    enum { MOST_UNKNOWNS = 200 }; /* the matrix is dense */
    if (prescribes_by_ideal_reactions(w))
        return written_cannot(w, "prescribed forces of constraints depend on the reactions of ideal constraints",
                              "use --format text or --format latex");
    if (w->unknown_count > MOST_UNKNOWNS)
        return written_cannot(
            w, written_text(w, "C output is limited to %d unknowns, found %zu", (int)MOST_UNKNOWNS, w->unknown_count),
            "use --format text or --format latex");
    heading(w, out);
    text_buffer_puts(out, preamble);
    print_tables(w->system->graph, out);
    return print_velocities(w, out) && print_rates(w, out);
}

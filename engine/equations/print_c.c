/* print_c.c — prints the equations as C functions that compute the rates of the state.
 *
 * The rates q' are explicit expressions. The unknowns z = (w', λ) are the solution of K z = f with K = ∂residual/∂z and
 * f = −residual(z = 0). The printed code solves this system at each state. Common subexpressions are computed once. */
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
    "/* Returns 1/m, where m is the largest magnitude of n entries, or 1 if m is 0. */\n"
    "static double unit(int n, const double *entry, int step) {\n"
    "    double largest = 0;\n"
    "    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(entry[i * step]));\n"
    "    return largest > 0 ? 1 / largest : 1;\n"
    "}\n"
    "\n"
    "/* Solves K z = f by elimination with complete pivoting of scaled rows and columns. K is n by n, stored by rows.\n"
    " * Overwrites K and f. Sets the unknowns that the equations do not determine (multipliers of redundant\n"
    " * constraints) to 0, and returns the number of these unknowns. */\n"
    "static int solve(int n, double *K, double *f, double *z) {\n"
    "    int row[SIZE], column[SIZE], rank = 0;\n"
    "    double size[SIZE], largest = 0;\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        double scale = unit(n, K + i * n, 1);\n"
    "        for (int j = 0; j < n; j++) K[i * n + j] *= scale;\n"
    "        f[i] *= scale;\n"
    "        row[i] = i;\n"
    "    }\n"
    "    for (int j = 0; j < n; j++) {\n"
    "        size[j] = unit(n, K + j, n);\n"
    "        for (int i = 0; i < n; i++) K[i * n + j] *= size[j];\n"
    "        column[j] = j;\n"
    "    }\n"
    "    for (; rank < n; rank++) {\n"
    "        int above = rank, left = rank;\n"
    "        for (int i = rank; i < n; i++)\n"
    "            for (int j = rank; j < n; j++)\n"
    "                if (fabs(K[row[i] * n + column[j]]) > fabs(K[row[above] * n + column[left]])) above = i, left = "
    "j;\n"
    "        int r = row[above], c = column[left];\n"
    "        double pivot = K[r * n + c];\n"
    "        if (rank == 0) largest = fabs(pivot);\n"
    "        if (!(fabs(pivot) > 1e-8 * largest)) break; /* the other rows are redundant, up to rounding and drift */\n"
    "        row[above] = row[rank], row[rank] = r;\n"
    "        column[left] = column[rank], column[rank] = c;\n"
    "        for (int i = rank + 1; i < n; i++) {\n"
    "            double factor = K[row[i] * n + c] / pivot;\n"
    "            if (factor == 0) continue;\n"
    "            for (int j = rank; j < n; j++) K[row[i] * n + column[j]] -= factor * K[r * n + column[j]];\n"
    "            f[row[i]] -= factor * f[r];\n"
    "        }\n"
    "    }\n"
    "    for (int j = 0; j < n; j++) z[j] = 0;\n"
    "    for (int i = rank - 1; i >= 0; i--) {\n"
    "        double sum = f[row[i]];\n"
    "        for (int j = i + 1; j < rank; j++) sum -= K[row[i] * n + column[j]] * z[column[j]];\n"
    "        z[column[i]] = sum / K[row[i] * n + column[i]];\n"
    "    }\n"
    "    for (int j = 0; j < n; j++) z[j] *= size[j];\n"
    "    return n - rank;\n"
    "}\n"
    "\n";

/* Prints an identifier. Each character that C does not allow is replaced by '_', and an index is then added so that
 * different names remain different. */
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

/* Prints a text for use inside a comment, on one line and without comment delimiters. */
static void comment(const char *text, text_buffer *out) {
    for (const char *c = text; *c && *c != '\n' && *c != '\r'; c++)
        if (!(c[0] == '/' && c > text && c[-1] == '*') && !(c[0] == '/' && c[1] == '*')) text_buffer_add(out, c, 1);
}

/* Prints `const double q_x = q[0];` or a similar declaration for each parameter, coordinate and velocity in
 * below[count]. The printed code reads the symbols velocities[velocity_count] from the C array named `array`. Returns
 * false if below[count] contains any other symbol. */
static bool locals(written *w, const graph_node *below, size_t count, const graph_node *velocities,
                   size_t velocity_count, const char *array, text_buffer *out) {
    const hamel_system *s = w->system;
    for (size_t k = 0; k < count; k++) {
        const graph_cell *cell = graph_at(s->graph, below[k]);
        if (cell->op != GRAPH_IS_SYMBOL || cell->kind == SYMBOL_TIME) continue;
        if (cell->kind > SYMBOL_VELOCITY)
            return written_cannot(w, "forces depend nonlinearly on reactions", WRITTEN_AS_TEXT);
        size_t index = (size_t)cell->as.index;
        if (cell->kind == SYMBOL_PARAMETER && index >= s->parameter_count) continue;
        text_buffer_puts(out, "    const double ");
        c_namer(w, (graph_symbol_kind)cell->kind, cell->as.index, out);
        if (cell->kind == SYMBOL_VELOCITY)
            for (index = 0; index < velocity_count && velocities[index] != below[k];) index++;
        if (cell->kind == SYMBOL_PARAMETER) {
            text_buffer_puts(out, " = ");
            text_buffer_number(out, s->parameter_values[index]);
            text_buffer_puts(out, ";\n");
        } else {
            text_buffer_printf(out, " = %s[%zu];\n", cell->kind == SYMBOL_COORDINATE ? "q" : array, index);
        }
    }
    return true;
}

/* Prints the local variables and common subexpressions on which values[count] depend. The caller prints the values. */
static bool body(written *w, graph_node *values, size_t count, const graph_node *velocities, size_t velocity_count,
                 const char *array, text_buffer *out) {
    graph_node *below, *definitions, **places = arena_alloc(w->memory, count, sizeof *places);
    size_t found, below_count = count ? graph_below(w->system->graph, values, count, w->memory, &below) : 0;
    if (!places || (count && below_count == 0)) return false;
    if (!locals(w, below, below_count, velocities, velocity_count, array, out)) return false;
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

/* Returns a remark on the projections that a program must add if it integrates the C code. Returns NULL if no
 * projection is needed. */
static const char *drift_of(const written *w) {
    bool holonomic = false;
    for (size_t c = 0; c < w->m; c++)
        holonomic |= w->acts[c] && w->system->constraints[c].order == CONSTRAINT_HOLONOMIC;
    if (w->with_multipliers && w->acting > 0)
        return "Integration drifts off the constraints, because these equations contain only derivatives of them:\n"
               " * project q and w onto the constraints between steps.";
    return holonomic ? "Integration drifts off the holonomic constraints, because these equations contain only their "
                       "rates:\n * project q onto these constraints between steps."
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
    bool multipliers = w->with_multipliers || w->multiplier_count > 0;
    text_buffer_puts(out, multipliers ? "\n * lambda:" : "\n * lambda: not computed in this formulation");
    for (size_t c = 0; c < w->m && multipliers; c++)
        if (w->acts[c]) text_buffer_printf(out, " %s", s->constraints[c].name);
    text_buffer_printf(out, " */\nenum { COORDINATES = %zu, VELOCITIES = %zu, MULTIPLIERS = %zu, SIZE = %zu };\n", w->n,
                       w->w_count, w->unknown_count - w->w_count + w->multiplier_count,
                       w->unknown_count ? w->unknown_count : 1);
}

static const char table_function[] = "/* Returns the derivative of the given order of a table. Outside the points, the "
                                     "value is NAN\n * or the value at the nearest point. */\n"
                                     "static double table(double x, double number, double order) {\n"
                                     "    const int k = (int)number, d = (int)order, last = tables[k].count - 1;\n"
                                     "    const double *X = tables[k].x;\n"
                                     "    if (!(x >= X[0] && x <= X[last])) {\n"
                                     "        if (!tables[k].hold || x != x) return NAN;\n"
                                     "        if (d > 0) return 0;\n"
                                     "        x = x < X[0] ? X[0] : X[last];\n"
                                     "    }\n"
                                     "    int low = 0, high = last;\n"
                                     "    while (high - low > 1) {\n"
                                     "        int middle = low + (high - low) / 2;\n"
                                     "        if (X[middle] <= x) low = middle;\n"
                                     "        else high = middle;\n"
                                     "    }\n"
                                     "    const double *c = tables[k].c + low * (tables[k].degree + 1);\n"
                                     "    double sum = 0;\n"
                                     "    for (int p = tables[k].degree; p >= d; p--) {\n"
                                     "        double factor = 1;\n"
                                     "        for (int j = 0; j < d; j++) factor *= p - j;\n"
                                     "        sum = sum * (x - X[low]) + factor * c[p];\n"
                                     "    }\n"
                                     "    return sum;\n"
                                     "}\n"
                                     "\n";

static void print_array(const char *letter, size_t table, const double *values, size_t count, text_buffer *out) {
    text_buffer_printf(out, "static const double table_%zu_%s[] = {", table, letter);
    for (size_t i = 0; i < count && !out->failed; i++) {
        text_buffer_puts(out, i % 8 ? ", " : i ? ",\n    " : "\n    ");
        text_buffer_number(out, values[i]);
    }
    text_buffer_puts(out, "\n};\n");
}

/* Prints the tables and the C function table(x, NUMBER, ORDER) that evaluates them. If the model has no tables, prints
 * nothing. */
static void print_tables(const graph *g, text_buffer *out) {
    size_t count = graph_table_count(g);
    const graph_table *const *tables = graph_tables(g);
    if (count == 0) return;
    for (size_t k = 0; k < count; k++) {
        size_t terms = (tables[k]->count - 1) * ((size_t)tables[k]->degree + 1);
        print_array("x", k, tables[k]->x, tables[k]->count, out);
        print_array("c", k, tables[k]->coefficients, terms, out);
    }
    text_buffer_puts(out,
                     "static const struct {\n    int count, degree, hold;\n    const double *x, *c;\n} tables[] = {\n");
    for (size_t k = 0; k < count; k++)
        text_buffer_printf(out, "    {%zu, %d, %d, table_%zu_x, table_%zu_c}, /* %s */\n", tables[k]->count,
                           tables[k]->degree, tables[k]->hold, k, k, tables[k]->name);
    text_buffer_puts(out, "};\n\n");
    text_buffer_puts(out, table_function);
}

/* Prints the C function velocities(t, q, v, w), which computes w from v = q'. */
static bool print_velocities(written *w, text_buffer *out) {
    text_buffer_puts(out, "/* Computes w from the velocities v = q'. */\n"
                          "void velocities(double t, const double *q, const double *v, double *w) {\n"
                          "    (void)t, (void)q, (void)v;\n");
    if (!body(w, w->w_given, w->w_count, w->system->v, w->n, "v", out)) return false;
    for (size_t r = 0; r < w->w_count; r++) assign(w, "w", r, w->w_given[r], out);
    text_buffer_puts(out, "}\n\n");
    return true;
}

/* Sets values[count] to nodes[count] at z = 0. The nodes are linear in z. */
static bool at_zero(written *w, const graph_node *nodes, size_t count, graph_node *values) {
    graph *g = w->system->graph;
    size_t most = w->n + w->extra_count, longest = most > w->m ? most : w->m;
    const graph_node *zeros = node_array(w->system, longest);
    if (!zeros) return false;
    for (size_t i = 0; i < count; i++) {
        values[i] = graph_substitute(g, nodes[i], SYMBOL_ACCELERATION, zeros, most);
        values[i] = graph_substitute(g, values[i], SYMBOL_MULTIPLIER, zeros, w->m);
    }
    return graph_status(g) == HAMEL_OK;
}

/* The values that `rates` computes, in one list, so that they share subexpressions: q', K, f, the divisors, and the
 * multipliers at z = 0 with their derivatives L = ∂λ/∂z. */
typedef struct machine_list {
    size_t count;
    graph_node *all, *K, *f, *divisors, *lambda, *L;
} machine_list;

static bool list_values(written *w, machine_list *list) {
    assert(w->unknown_count >= w->w_count);
    graph *g = w->system->graph;
    size_t z = w->unknown_count;
    list->count = w->n + z * z + z + w->divisor_count + w->multiplier_count * (1 + z);
    list->all = arena_alloc(w->memory, list->count, sizeof *list->all);
    if (!list->all) return false;
    list->K = list->all + w->n;
    list->f = list->K + z * z;
    list->divisors = list->f + z;
    list->lambda = list->divisors + w->divisor_count;
    list->L = list->lambda + w->multiplier_count;
    memcpy(list->all, w->rates, w->n * sizeof *list->all);
    for (size_t i = 0; i < z; i++)
        for (size_t j = 0; j < z; j++) list->K[i * z + j] = graph_partial(g, w->residuals[i], w->unknowns[j]);
    for (size_t k = 0; k < w->divisor_count; k++) list->divisors[k] = w->divisors[k].node;
    for (size_t k = 0; k < w->multiplier_count; k++)
        for (size_t j = 0; j < z; j++) list->L[k * z + j] = graph_partial(g, w->multipliers[k], w->unknowns[j]);
    if (!at_zero(w, w->residuals, z, list->f) || !at_zero(w, w->multipliers, w->multiplier_count, list->lambda))
        return false;
    for (size_t i = 0; i < z; i++) list->f[i] = graph_neg(g, list->f[i]);
    return graph_status(g) == HAMEL_OK;
}

/* Lower bound on a divisor relative to its initial value. At this bound, the rates lose six of sixteen digits. */
#define DIVISOR_LEAST "1e-6"

/* Prints the description of `rates` and lists the divisors. */
static void describe_rates(const written *w, text_buffer *out) {
    text_buffer_puts(out, "/* Computes q', w' and the multipliers at a state. Returns 0, or 1 if w' is not determined");
    if (w->divisor_count > 0)
        text_buffer_puts(
            out,
            ",\n"
            " * or 2 if a divisor is below " DIVISOR_LEAST " of its initial value or has changed its sign.\n"
            " * These equations are solved for velocities once, at the initial state. A step across a zero of a "
            "divisor\n"
            " * leads to a wrong motion: stop there, and write the equations for an initial state beyond the zero,\n"
            " * or with --formulation lagrange, which has no such divisors.\n"
            " * Divisors");
    for (size_t k = 0; k < w->divisor_count; k++) {
        text_buffer text;
        text_buffer_init(&text, 1000);
        graph_print(w->system->graph, w->divisors[k].node, written_namer, (void *)w, &text);
        text_buffer_puts(out, k == 0 ? ":\n *   " : "\n *   ");
        comment(text.failed || !text.bytes ? "an expression too long to show" : text.bytes, out);
        text_buffer_puts(out, ", in ");
        comment(w->divisors[k].of, out);
        text_buffer_free(&text);
    }
    text_buffer_puts(out, w->divisor_count > 0 ? " */\n" : ". */\n");
}

/* Prints the checks of the divisors. `divisors` points to the divisors in the list of machine_values. */
static void check_divisors(const written *w, const graph_node *divisors, text_buffer *out) {
    for (size_t k = 0; k < w->divisor_count; k++) {
        text_buffer_puts(out, "    if (!((");
        print_node(w, divisors[k], out);
        text_buffer_puts(out, ")/(");
        text_buffer_number(out, w->divisors[k].start);
        text_buffer_puts(out, ") > " DIVISOR_LEAST ")) return 2;\n");
    }
}

/* Prints the multipliers, which are part of z or linear in z. */
static void print_multipliers(const written *w, const machine_list *list, text_buffer *out) {
    size_t z = w->unknown_count;
    if (w->multiplier_count == 0)
        text_buffer_puts(out, "    for (int i = 0; i < MULTIPLIERS; i++) lambda[i] = z[VELOCITIES + i];\n");
    for (size_t k = 0; k < w->multiplier_count; k++) {
        text_buffer_printf(out, "    lambda[%zu] = ", k);
        print_node(w, list->lambda[k], out);
        for (size_t j = 0; j < z; j++) {
            if (graph_is_zero(w->system->graph, list->L[k * z + j])) continue;
            text_buffer_puts(out, " + (");
            print_node(w, list->L[k * z + j], out);
            text_buffer_printf(out, ")*z[%zu]", j);
        }
        text_buffer_puts(out, ";\n");
    }
}

/* Prints the C function `rates`. The function accepts undetermined multipliers unless forces depend on reactions. */
static bool print_rates(written *w, text_buffer *out) {
    machine_list list;
    size_t z = w->unknown_count;
    if (!list_values(w, &list)) return false;
    describe_rates(w, out);
    text_buffer_puts(out, "int rates(double t, const double *q, const double *w, double *q_dot, double *w_dot, "
                          "double *lambda) {\n    double K[SIZE * SIZE] = {0}, f[SIZE], z[SIZE];\n"
                          "    (void)t, (void)q, (void)w, (void)lambda;\n");
    if (!body(w, list.all, list.count, w->w, w->w_count, "w", out)) return false;
    check_divisors(w, list.divisors, out);
    for (size_t i = 0; i < w->n; i++) assign(w, "q_dot", i, list.all[i], out);
    for (size_t k = 0; k < z * z; k++)
        if (!graph_is_zero(w->system->graph, list.K[k])) assign(w, "K", k, list.K[k], out);
    for (size_t i = 0; i < z; i++) assign(w, "f", i, list.f[i], out);
    text_buffer_puts(out, "    int open = solve(SIZE, K, f, z);\n"
                          "    for (int i = 0; i < VELOCITIES; i++) w_dot[i] = z[i];\n");
    print_multipliers(w, &list, out);
    bool determined = written_forces_depend_on_reactions(w) || w->multiplier_count > 0;
    text_buffer_printf(out, "    return open > %s;\n}\n", determined ? "0" : "MULTIPLIERS");
    return true;
}

/* Returns true if prescribed forces of nonideal constraints contain the reactions that ideal constraints alone would
 * exert (Udwadia 2000). These reactions are not the multipliers of K z = f, although they have the same names. */
static bool prescribes_by_ideal_reactions(const written *w) {
    unsigned reactions =
        GRAPH_DEPENDS(SYMBOL_MULTIPLIER) | GRAPH_DEPENDS(SYMBOL_IDEAL) | GRAPH_DEPENDS(SYMBOL_NONIDEAL);
    for (size_t i = 0; w->equations.nonideal && i < w->n; i++)
        if (graph_depends(w->system->graph, w->equations.nonideal[i]) & reactions) return true;
    return false;
}

bool print_c(written *w, text_buffer *out) {
    enum { MOST_UNKNOWNS = 200 }; /* the dense matrix then takes 320 kB of stack memory */
    if (prescribes_by_ideal_reactions(w))
        return written_cannot(w, "prescribed forces of constraints depend on the reactions of ideal constraints",
                              WRITTEN_AS_TEXT);
    if (w->unknown_count > MOST_UNKNOWNS)
        return written_cannot(w,
                              arena_format(w->memory, "C output is limited to %d unknowns, found %zu",
                                           (int)MOST_UNKNOWNS, w->unknown_count),
                              WRITTEN_AS_TEXT);
    heading(w, out);
    text_buffer_puts(out, preamble);
    print_tables(w->system->graph, out);
    return print_velocities(w, out) && print_rates(w, out);
}

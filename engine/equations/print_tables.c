/* print_tables.c — prints the tables of a system as a C function. */
#include "engine/equations/written.h"

static const char table_function[] =
    "/* The derivative of that order of a table's polynomials; outside NAN, or what the end holds. */\n"
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

void print_tables(const graph *g, text_buffer *out) {
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

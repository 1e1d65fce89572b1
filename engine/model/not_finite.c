/* not_finite.c — finds and prints the expression that produced a NaN or an infinity. */
#include "engine/model/model.h"

#include <assert.h>
#include <stdlib.h>

/* Returns the value of a node at these inputs, or NaN if out of memory. */
static double node_value(const hamel_model *model, graph_node node, const program_inputs *inputs) {
    arena memory;
    program *p;
    double value = NAN;
    arena_init(&memory, model->limits.memory);
    bool good = program_compile(&p, &memory, model->system->graph, &node, 1, NULL) == HAMEL_OK;
    double *workspace = good ? arena_doubles(&memory, program_workspace_doubles(p)) : NULL;
    if (workspace) program_prepare(p, inputs, workspace);
    if (workspace) program_evaluate(p, inputs, workspace, &value);
    arena_free(&memory);
    return value;
}

static const graph_table *table_of(const graph *g, const graph_cell *cell) {
    double index = 0;
    (void)graph_is_number(g, cell->as.operand[1], &index);
    return graph_tables(g)[(size_t)index];
}

/* Describes a table look-up outside the table's points. */
static void outside_table(const hamel_model *model, const graph_cell *cell, const program_inputs *inputs,
                          text_buffer *out) {
    const graph *g = model->system->graph;
    const graph_table *table = table_of(g, cell);
    text_buffer_printf(out, "the table `%s` is not defined at ", table->name);
    text_buffer_number(out, node_value(model, cell->as.operand[0], inputs));
    text_buffer_puts(out, ", only from ");
    text_buffer_number(out, table->x[0]);
    text_buffer_puts(out, " to ");
    text_buffer_number(out, table->x[table->count - 1]);
}

/* Prints a look-up as the user wrote it, even if a derivative of the table was evaluated. */
static void print_lookup(const hamel_model *model, const graph_cell *cell, text_buffer *out) {
    const graph *g = model->system->graph;
    text_buffer_printf(out, "table(%s, ", table_of(g, cell)->name);
    graph_print(g, cell->as.operand[0], system_name_symbol, model->system, out);
    text_buffer_puts(out, ")");
}

hamel_status model_not_finite(const hamel_model *model, const program *p, const program_inputs *inputs,
                              double *workspace, double t, const char *pointer, const char *place, hamel_error *error) {
    assert(program_output_count(p) > 0);
    graph_node node = program_first_fault(p, inputs, workspace);
    bool lookup = node >= 0 && graph_at(model->system->graph, node)->op == GRAPH_TABLE;
    text_buffer text;
    text_buffer_init(&text, 4096);
    if (lookup) {
        outside_table(model, graph_at(model->system->graph, node), inputs, &text);
        text_buffer_puts(&text, ": `");
    } else {
        text_buffer_printf(&text, "%s is not finite%s", place, node >= 0 ? ": `" : "");
    }
    size_t before = text.length;
    if (lookup)
        print_lookup(model, graph_at(model->system->graph, node), &text);
    else if (node >= 0)
        graph_print(model->system->graph, node, system_name_symbol, model->system, &text);
    bool shown = !text.failed && text.bytes;
    if (shown)
        (void)hamel_fail(error, HAMEL_NOT_FINITE, pointer, 0, "at t = %.9g %.*s%.300s%s", t, (int)before, text.bytes,
                         text.bytes + before, node >= 0 ? "`" : "");
    else
        (void)hamel_fail(error, HAMEL_NOT_FINITE, pointer, 0, "at t = %.9g %s is not finite", t, place);
    if (lookup) hamel_suggest(error, "add points, or set \"outside\": \"hold\"");
    text_buffer_free(&text);
    return HAMEL_NOT_FINITE;
}

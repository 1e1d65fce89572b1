/* print_text.c — prints equations in the notation of descriptions, and in LaTeX. */
#include "engine/equations/written.h"
#include "engine/system/latex.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* LaTeX commands for time derivatives; the index is the order of the derivative */
static const char *const derivative_mark[] = {"", "\\dot{", "\\ddot{", "\\dddot{", "\\ddddot{"};

static void latex_namer(void *context, graph_symbol_kind kind, int32_t index, text_buffer *out) {
    const written *w = context;
    text_buffer plain;
    bool rate_of_extra = kind == SYMBOL_ACCELERATION && (size_t)index >= w->n;
    int dots = rate_of_extra ? 1 : written_derivative(w, kind, index);
    bool multiplier = kind == SYMBOL_MULTIPLIER;
    text_buffer_init(&plain, 4096);
    if (multiplier)
        text_buffer_puts(&plain, w->system->constraints[index].name);
    else
        written_namer((void *)w, kind, index, &plain);
    if (plain.bytes && multiplier) {
        text_buffer_puts(out, "\\lambda_{");
        latex_name(plain.bytes, out);
        text_buffer_puts(out, "}");
    } else if (plain.bytes) {
        text_buffer_puts(out, derivative_mark[dots]);
        latex_name(plain.bytes, out);
        text_buffer_puts(out, dots ? "}" : "");
    }
    text_buffer_free(&plain);
}

/* Prints a subscript that contains names from the description. */
static void latex_words(const char *text, size_t length, text_buffer *out) {
    text_buffer_puts(out, "_{\\text{");
    for (size_t k = 0; k < length; k++) {
        if (text[k] == '_') text_buffer_puts(out, "\\");
        text_buffer_add(out, text + k, 1);
    }
    text_buffer_puts(out, "}}");
}

/* Prints the left-hand side of a definition: "q'", "M[x, y]", "gamma[c; u, v]". */
static void latex_defined(const written_line *line, text_buffer *out) {
    const char *prime = strchr(line->defines, '\'');
    if (line->index[0] && !line->upright) {
        latex_stem(line->symbol, strlen(line->symbol), out);
        text_buffer_puts(out, "_{");
        for (int k = 0; k < 3 && line->index[k]; k++) {
            text_buffer_puts(out, k == 0 ? "" : k == 1 && line->index[2] ? ";" : ",");
            latex_name(line->index[k], out);
        }
        text_buffer_puts(out, "}");
        return;
    }
    if (line->index[0]) {
        size_t stem = strlen(line->symbol);
        latex_stem(line->symbol, stem, out);
        latex_words(line->defines + stem + 1, strlen(line->defines) - stem - 2, out);
        return;
    }
    size_t primes = prime ? strspn(prime, "'") : 0;
    text_buffer_puts(out, derivative_mark[primes < 4 ? primes : 4]);
    latex_name(line->defines, out);
    if (prime) text_buffer_puts(out, "}");
}

static void text_defined(const written_line *line, text_buffer *out) {
    text_buffer_puts(out, line->defines);
}

static void text_node(const written *w, graph_node node, text_buffer *out) {
    graph_print(w->system->graph, node, written_namer, (void *)w, out);
}

static void latex_node(const written *w, graph_node node, text_buffer *out) {
    graph_print_latex(w->system->graph, node, latex_namer, (void *)w, out);
}

typedef struct notation {
    char comment; /* begins a comment line */
    /* before_part, open, close: text around a part; equals: text between the two sides of a line; next: text between
     * two lines; last: text after the last line */
    const char *before_part, *open, *equals, *next, *last, *close;
    const char *before_note, *after_note; /* text before and after the remark of a line */
    bool names_lines;                     /* equations begin with the name of their coordinate or constraint */
    void (*defined)(const written_line *line, text_buffer *out);
    void (*node)(const written *w, graph_node node, text_buffer *out);
} notation;

static void print_parts(const written *w, const notation *n, text_buffer *out) {
    const char *name = w->model->header.name;
    text_buffer_printf(out, "%c %s: %s%s%s\n", n->comment, name && *name ? name : "system", w->model->formulation->name,
                       w->form_name ? ", " : "", w->form_name ? w->form_name : "");
    if (written_remark(w)) text_buffer_printf(out, "%c %s\n", n->comment, written_remark(w));
    for (size_t k = 0; k < w->omitted_count; k++)
        text_buffer_printf(out, "%c omitted, because the work budget was spent: %s\n", n->comment, w->omitted[k]);
    if (w->law) text_buffer_printf(out, "%c %s\n", n->comment, w->law);
    for (size_t p = 0; p < w->part_count; p++) {
        const written_part *part = &w->parts[p];
        bool empty = part->count == 0;
        if (empty && !part->keeps_title) continue;
        text_buffer_printf(out, "%s%c %s\n%s", n->before_part, n->comment, part->title, empty ? "" : n->open);
        for (size_t k = 0; k < part->count; k++) {
            const written_line *line = &part->lines[k];
            if (n->names_lines && !line->symbol) text_buffer_printf(out, "%s: ", line->name);
            if (line->defines)
                n->defined(line, out);
            else
                n->node(w, line->left, out);
            text_buffer_puts(out, n->equals);
            n->node(w, line->right, out);
            if (line->note) text_buffer_printf(out, "%s%s%s", n->before_note, line->note, n->after_note);
            text_buffer_puts(out, k + 1 < part->count ? n->next : n->last);
        }
        text_buffer_puts(out, empty ? "" : n->close);
    }
}

static const notation text = {'#', "\n", "", " = ", "\n", "\n", "", "  # ", "", true, text_defined, text_node};
static const notation latex = {
    '%',  "",    "\\begin{align}\n", " &= ",    " \\\\\n", "\n", "\\end{align}\n", " \\quad \\text{(",
    ")}", false, latex_defined,      latex_node};

void print_text(const written *w, text_buffer *out) {
    print_parts(w, &text, out);
}

void print_latex(const written *w, text_buffer *out) {
    print_parts(w, &latex, out);
}

/* Fills `entry` from a line that defines a quantity. `value` is a scratch buffer. The texts are allocated in
 * `memory`. */
static void fill_entry(const written *w, hamel_notation in, const written_line *line, hamel_written_entry *entry,
                       text_buffer *value, arena *memory) {
    entry->symbol = arena_format(memory, "%s", line->symbol);
    for (int i = 0; i < 3 && line->index[i]; i++) entry->indices[i] = arena_format(memory, "%s", line->index[i]);
    text_buffer_reset(value);
    (in == HAMEL_NOTATION_LATEX ? &latex : &text)->node(w, line->right, value);
    entry->note = line->note ? arena_format(memory, "%s", line->note) : NULL;
    entry->value = value->bytes ? arena_text(memory, value->bytes, value->length) : NULL;
}

bool print_entries(const written *w, hamel_notation in, hamel_written *to, arena *memory) {
    text_buffer value;
    size_t count = 0;
    for (size_t p = 0; p < w->part_count; p++) count += w->parts[p].count;
    hamel_written_entry *entries = arena_alloc(memory, count, sizeof *entries);
    const char **omitted = arena_alloc(memory, w->omitted_count, sizeof *omitted);
    text_buffer_init(&value, SIZE_MAX);
    to->entries = entries;
    to->omitted = (hamel_names){omitted, w->omitted_count};
    for (size_t k = 0; omitted && k < w->omitted_count; k++) omitted[k] = arena_format(memory, "%s", w->omitted[k]);
    for (size_t p = 0; entries && p < w->part_count; p++)
        for (size_t k = 0; k < w->parts[p].count; k++) {
            const written_line *line = &w->parts[p].lines[k];
            if (line->symbol) fill_entry(w, in, line, &entries[to->count++], &value, memory);
        }
    bool good = !memory->failed && !value.failed;
    text_buffer_free(&value);
    return good;
}

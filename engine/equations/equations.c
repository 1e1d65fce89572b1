/* equations.c — derives the equations, selects the writer of the formulation, and copies the lines of the writer to the
 * result. */
#include "engine/equations/equations.h"

#include "engine/equations/written.h"
#include "engine/mechanics/formulation.h"
#include "engine/system/binder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 64 << 20 }; /* maximum length of a text, in bytes */

typedef struct writer_kind {
    const char *name;
    const formulation *from; /* formulation whose derivation is used */
    bool (*write)(written *w, const char *as);
    bool solves; /* true if the writer solves for velocities; the number of coordinates is then limited */
} writer_kind;

static const writer_kind writers[] = {
    {"lagrange", &formulation_lagrange, write_multipliers, false},
    {"udwadia-kalaba", &formulation_lagrange, write_multipliers, false},
    {"gauss", &formulation_lagrange, write_multipliers, false},
    {"maggi", &formulation_lagrange, write_quasi_velocities, true},
    {"kane", &formulation_lagrange, write_quasi_velocities, true},
    {"gibbs-appell", &formulation_lagrange, write_quasi_velocities, true},
    {"boltzmann-hamel", &formulation_lagrange, write_quasi_velocities, true},
    {"hadamard", &formulation_lagrange, write_solved_form, true},
    {"voronets", &formulation_lagrange, write_solved_form, true},
    {"chaplygin", &formulation_lagrange, write_solved_form, true},
    {"hamilton", &formulation_hamilton, write_canonical, true},
    {"routh", &formulation_routh, write_canonical, true},
};

static bool write_as(written *w, const writer_kind *kind) {
    bool solves = kind->solves || (w->form == HAMEL_FORM_JOURDAIN && w->m > 0);
    if (!solves || w->n <= WRITTEN_SOLVED) return kind->write(w, kind->name);
    return written_cannot(w,
                          arena_format(w->memory,
                                       "velocities can be solved for %d coordinates at most; the system has %zu",
                                       (int)WRITTEN_SOLVED, w->n),
                          WRITTEN_BY_LAGRANGE);
}

static const writer_kind *writer_of(const char *name) {
    for (size_t k = 0; k < sizeof writers / sizeof *writers; k++)
        if (strcmp(writers[k].name, name) == 0) return &writers[k];
    return NULL;
}

/* Returns a prefix for the names of common subexpressions. No name in the description begins with this prefix. */
static const char *free_name(const written *w) {
    static const char *const candidates[] = {"z", "s", "k", "zz", "ss", "kk"};
    for (size_t k = 0; k < sizeof candidates / sizeof *candidates; k++) {
        const char *c = candidates[k];
        bool taken = false;
        for (size_t i = 0; i < w->n; i++) taken |= strncmp(w->system->coordinates[i].name, c, strlen(c)) == 0;
        for (size_t i = 0; i < w->system->parameter_count; i++)
            taken |= strncmp(w->system->parameter_names[i], c, strlen(c)) == 0;
        for (size_t i = 0; i < w->system->quasi_count; i++)
            taken |= strncmp(w->system->quasi[i].name, c, strlen(c)) == 0;
        if (!taken) return c;
    }
    return "shared_";
}

const hamel_form_entry hamel_forms[HAMEL_FORM_COUNT] = {
    [HAMEL_FORM_MOTION] = {"motion", "equations of motion"},
    [HAMEL_FORM_EXPLICIT] = {"explicit",
                             "kinetic energy by degree in the velocities, and coefficients of the equations"},
    [HAMEL_FORM_NIELSEN] = {"nielsen", "Nielsen's equations, from the rate T' of the kinetic energy"},
    [HAMEL_FORM_TSENOV] = {"tsenov", "Tsenov's equations, from T''"},
    [HAMEL_FORM_MANGERON_DELEANU] = {"mangeron-deleanu", "third-order equations of Mangeron and Deleanu, from T'''"},
    [HAMEL_FORM_JOURDAIN] = {"jourdain", "Jourdain's principle, with variations of the velocities"},
    [HAMEL_FORM_CENTRAL] = {"central", "central equation, with rates of the momenta"},
    [HAMEL_FORM_ENERGY_RATE] = {"energy-rate", "generalized energy, and its rate as a sum of terms"},
};

/* Names of the forms in the header of the output; NULL for HAMEL_FORM_MOTION. */
static const char *const titles[HAMEL_FORM_COUNT] = {
    [HAMEL_FORM_EXPLICIT] = "explicit form",    [HAMEL_FORM_NIELSEN] = "form of Nielsen",
    [HAMEL_FORM_TSENOV] = "form of Tsenov",     [HAMEL_FORM_MANGERON_DELEANU] = "form of Mangeron and Deleanu",
    [HAMEL_FORM_JOURDAIN] = "form of Jourdain", [HAMEL_FORM_CENTRAL] = "central equation",
    [HAMEL_FORM_ENERGY_RATE] = "energy rate",
};

/* Derives the equations, collects the lines of the form, and prints them to `out`. */
static hamel_status write_in(written *w, hamel_notation notation, text_buffer *out) {
    hamel_system *s = w->system;
    s->error = w->error;
    w->equations = (hamel_equations){.system = s, .n = w->n, .m = w->m};
    const writer_kind *kind = writer_of(w->model->formulation->name);
    if (!kind) return hamel_fail(w->error, HAMEL_INTERNAL, "", 0, "this formulation has no written form");
    hamel_status status = kind->from->derive(&w->equations);
    if (status != HAMEL_OK) return status;
    w->shared_name = free_name(w);
    w->lines_read = notation != HAMEL_NOTATION_C;
    bool operators =
        w->form == HAMEL_FORM_NIELSEN || w->form == HAMEL_FORM_TSENOV || w->form == HAMEL_FORM_MANGERON_DELEANU;
    bool done = written_prepare(w) && (!operators || write_operators(w)) && write_as(w, kind) && written_finish(w);
    if (done && notation == HAMEL_NOTATION_TEXT) print_text(w, out);
    if (done && notation == HAMEL_NOTATION_LATEX) print_latex(w, out);
    if (done && notation == HAMEL_NOTATION_C) done = print_c(w, out);
    if (w->error->status != HAMEL_OK) return w->error->status;
    if (done && !out->failed) return HAMEL_OK;
    return hamel_fail(w->error, HAMEL_LIMIT, "", 0, "the equations are longer than %zu MiB, or memory is exhausted",
                      out->maximum >> 20);
}

static bool is_writing_interrupted(void *system) {
    return system_interrupted(system);
}

typedef struct owned_written {
    hamel_written written; /* first, because callers hold a pointer to it */
    arena memory;          /* memory of the entries */
} owned_written;

static hamel_status no_c_code(const char *name, hamel_error *error) {
    hamel_status status = hamel_fail(error, HAMEL_INVALID, "", 0, "the %s cannot be written as C", name);
    hamel_suggest(error, "%s", WRITTEN_AS_TEXT);
    return status;
}

/* Writes a form of the equations of `d` to the text and the entries of `to`, which the caller frees even on failure. */
static hamel_status write_to(owned_written *to, hamel_form form, const hamel_description *d, hamel_notation notation,
                             const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    hamel_model *model = NULL;
    arena memory;
    text_buffer text;
    arena_init(&memory, limits->memory);
    arena_init(&to->memory, limits->memory);
    text_buffer_init(&text, MOST_TEXT);
    const char *name = titles[form];
    hamel_status status =
        name && notation == HAMEL_NOTATION_C ? no_c_code(name, error) : model_derive(&model, d, limits, poll, error);
    if (status == HAMEL_OK) {
        written w = {.memory = &memory,
                     .model = model,
                     .system = model->system,
                     .error = error,
                     .n = model->n,
                     .m = model->m,
                     .form = form,
                     .form_name = name};
        model->system->poll = poll;
        w.work_budget = (work_budget){(uint64_t)limits->arranging, false, is_writing_interrupted, model->system};
        status = write_in(&w, notation, &text);
        to->written.simplified = !w.work_budget.spent;
        if (status == HAMEL_OK && !print_entries(&w, notation, &to->written, &to->memory))
            status = hamel_out_of_memory(error);
    }
    if (status == HAMEL_OK) to->written.text = text_buffer_take(&text, NULL);
    text_buffer_free(&text);
    arena_free(&memory);
    hamel_model_free(model);
    return status;
}

hamel_status hamel_write_form(hamel_written **out, const hamel_description *d, hamel_form form, hamel_notation notation,
                              const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    hamel_error own = {0};
    const hamel_limits defaults = hamel_limits_default();
    if (!error) error = &own;
    *out = NULL;
    owned_written *to = calloc(1, sizeof *to);
    if (!to) return hamel_out_of_memory(error);
    hamel_status status = write_to(to, form, d, notation, limits ? limits : &defaults, poll, error);
    if (status == HAMEL_OK)
        *out = &to->written;
    else
        hamel_written_free(&to->written);
    hamel_error_clear(&own);
    return status; /* cppcheck-suppress memleak ; the caller owns *out */
}

hamel_status hamel_write_equations(hamel_written **out, const hamel_description *d, hamel_notation notation,
                                   const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    return hamel_write_form(out, d, HAMEL_FORM_MOTION, notation, limits, poll, error);
}

bool hamel_entry_is_reaction(const hamel_written_entry *entry) {
    return entry->indices[0] && strcmp(entry->symbol, WRITTEN_MULTIPLIER) == 0;
}

void hamel_written_free(hamel_written *equations) {
    if (!equations) return;
    owned_written *owned = (owned_written *)(void *)equations; /* the first member */
    free(owned->written.text);
    arena_free(&owned->memory);
    free(owned);
}

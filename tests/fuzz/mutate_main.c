/* mutate_main.c — drives a fuzz target without a fuzzing engine.
 *
 * fuzz_x CORPUS_DIR COUNT [SEED [SAVE]]
 *
 * Passes every file of the corpus to LLVMFuzzerTestOneInput, then COUNT mutations. A mutation changes, removes, repeats
 * or inserts bytes, or inserts pieces of other files of the corpus. Equal corpus, count and seed give equal inputs on
 * every machine. If SAVE is given, each input is first written to that file. After a crash, the file contains the input
 * that caused the crash. Each input is in an allocated block of exactly its size, so that sanitizers detect reads
 * beyond the end. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILES_MAX = 4096, INPUT_MAX = 1 << 16, PATH_SIZE = 4096, MUTATIONS_MAX = 8, PIECE_MAX = 32 };

typedef struct input {
    uint8_t *bytes;
    size_t size;
} input;

typedef struct corpus {
    input files[FILES_MAX];
    size_t count;
} corpus;

/* --- random numbers: splitmix64 (Steele, Lea and Flood 2014) ---------------------------------------------------- */

static uint64_t next_random(uint64_t *seed) {
    uint64_t z = *seed += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static size_t below(uint64_t *seed, size_t bound) {
    return (size_t)(next_random(seed) % bound);
}

/* --- the corpus -------------------------------------------------------------------------------------------------- */

static bool read_file(const char *path, input *out) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return false;
    uint8_t *bytes = malloc(INPUT_MAX);
    if (bytes != NULL) *out = (input){.bytes = bytes, .size = fread(bytes, 1, INPUT_MAX, file)};
    fclose(file);
    return bytes != NULL;
}

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

/* Files are sorted by name, so that the result depends only on the seed. */
static bool read_corpus(const char *folder, corpus *c) {
    struct dirent **entries;
    int count = scandir(folder, &entries, is_visible, alphasort);
    if (count < 0) return false;
    bool fine = count <= FILES_MAX;
    for (int i = 0; i < count; i++) {
        char path[PATH_SIZE];
        int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        fine = fine && length < PATH_SIZE && read_file(path, &c->files[c->count]);
        if (fine) c->count++;
        free(entries[i]);
    }
    free(entries);
    return fine && c->count > 0;
}

/* --- mutations --------------------------------------------------------------------------------------------------- */

/* Inserts `count` bytes at `at`. If the input would exceed INPUT_MAX, inserts nothing. */
static void insert(input *in, size_t at, const uint8_t *bytes, size_t count) {
    if (count > INPUT_MAX - in->size) return;
    memmove(in->bytes + at + count, in->bytes + at, in->size - at);
    memcpy(in->bytes + at, bytes, count);
    in->size += count;
}

static void erase(input *in, size_t at, size_t count) {
    memmove(in->bytes + at, in->bytes + at + count, in->size - at - count);
    in->size -= count;
}

static uint8_t random_byte(uint64_t *seed) {
    static const char COMMON[] = "()[]{}\"',.:=<>+-*/^0123456789eE \n\t_xit";
    return below(seed, 4) == 0 ? (uint8_t)next_random(seed) : (uint8_t)COMMON[below(seed, sizeof COMMON - 1)];
}

/* Inserts a piece of `from`, which may be the input itself, at a random position. */
static void insert_piece(input *in, const input *from, uint64_t *seed) {
    if (from->size == 0) return;
    size_t start = below(seed, from->size), most = from->size - start;
    size_t count = 1 + below(seed, most < PIECE_MAX ? most : PIECE_MAX);
    uint8_t piece[PIECE_MAX];
    memcpy(piece, from->bytes + start, count);
    size_t at = below(seed, in->size + 1);
    for (size_t repeats = below(seed, 16) == 0 ? 1 + below(seed, 200) : 1; repeats > 0; repeats--)
        insert(in, at, piece, count);
}

static void mutate(input *in, const corpus *c, uint64_t *seed) {
    uint8_t byte = random_byte(seed);
    size_t at = below(seed, in->size + 1);
    switch (below(seed, 7)) {
    case 0: insert(in, at, &byte, 1); break;
    case 1:
        if (at < in->size) in->bytes[at] = byte;
        break;
    case 2:
        if (at < in->size) in->bytes[at] ^= (uint8_t)(1u << below(seed, 8));
        break;
    case 3:
        if (at < in->size) erase(in, at, 1 + below(seed, in->size - at < 8 ? in->size - at : 8));
        break;
    case 4: insert_piece(in, in, seed); break;
    case 5: insert_piece(in, &c->files[below(seed, c->count)], seed); break;
    default:
        if (below(seed, 8) == 0) in->size = at;
        break;
    }
}

/* --- runs -------------------------------------------------------------------------------------------------------- */

static bool run(const input *in, const char *save) {
    if (save != NULL) {
        FILE *file = fopen(save, "wb");
        if (file == NULL) return false;
        bool written = fwrite(in->bytes, 1, in->size, file) == in->size;
        if (fclose(file) != 0 || !written) return false;
    }
    uint8_t *exact = malloc(in->size > 0 ? in->size : 1);
    if (exact == NULL) return false;
    memcpy(exact, in->bytes, in->size);
    LLVMFuzzerTestOneInput(exact, in->size);
    free(exact);
    return true;
}

static bool run_all(const corpus *c, uint64_t count, uint64_t seed, const char *save) {
    for (size_t i = 0; i < c->count; i++) {
        if (!run(&c->files[i], save)) return false;
    }
    input in = {.bytes = malloc(INPUT_MAX)};
    bool fine = in.bytes != NULL;
    for (uint64_t i = 0; fine && i < count; i++) {
        const input *origin = &c->files[below(&seed, c->count)];
        in.size = origin->size;
        memcpy(in.bytes, origin->bytes, origin->size);
        for (size_t n = 1 + below(&seed, MUTATIONS_MAX); n > 0; n--) mutate(&in, c, &seed);
        fine = run(&in, save);
    }
    free(in.bytes);
    return fine;
}

int main(int argc, char **argv) {
    if (argc < 3 || argc > 5) {
        fprintf(stderr, "usage: %s CORPUS_DIR COUNT [SEED [SAVE]]\n", argv[0]);
        return 2;
    }
    corpus *c = calloc(1, sizeof *c);
    if (c == NULL || !read_corpus(argv[1], c)) {
        fprintf(stderr, "%s: the corpus %s cannot be read or is empty\n", argv[0], argv[1]);
        free(c);
        return 2;
    }
    uint64_t count = strtoull(argv[2], NULL, 10), seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    bool fine = run_all(c, count, seed, argc > 4 ? argv[4] : NULL);
    printf("# %zu files, %llu mutations\n", c->count, (unsigned long long)count);
    for (size_t i = 0; i < c->count; i++) free(c->files[i].bytes);
    free(c);
    return fine ? 0 : 1;
}

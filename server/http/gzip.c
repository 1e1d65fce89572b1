/* gzip.c — compression with zlib; see gzip.h. Level 1 reduces rows of digits to a third, and compressing takes less
 * time than printing the rows. Higher levels gain little and take several times as long. */
#define ZLIB_CONST
#include "server/http/gzip.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

enum { LEVEL = 1, WINDOW_BITS = 15, GZIP_FORMAT = 16, MEMORY_LEVEL = 8, PIECE_BYTES = 16 * 1024 };

struct gzip {
    z_stream z;
    bool pending; /* bytes were written since the last flush */
    char piece[PIECE_BYTES];
};

static bool deflate_begin(z_stream *z) {
    return deflateInit2(z, LEVEL, Z_DEFLATED, WINDOW_BITS + GZIP_FORMAT, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;
}

gzip *gzip_open(void) {
    gzip *z = calloc(1, sizeof *z);
    if (z && deflate_begin(&z->z)) return z;
    free(z);
    return NULL;
}

void gzip_close(gzip *z) {
    if (!z) return;
    deflateEnd(&z->z);
    free(z);
}

static bool deflate_pieces(gzip *z, int mode, byte_sink sink) {
    do {
        z->z.next_out = (Bytef *)z->piece;
        z->z.avail_out = PIECE_BYTES;
        if (deflate(&z->z, mode) == Z_STREAM_ERROR) return false;
        size_t length = PIECE_BYTES - z->z.avail_out;
        if (length > 0 && !sink.write(sink.context, z->piece, length)) return false;
    } while (z->z.avail_out == 0);
    return true;
}

bool gzip_write(gzip *z, const char *bytes, size_t length, byte_sink sink) {
    while (length > 0) {
        uInt part = length < INT_MAX ? (uInt)length : INT_MAX;
        z->z.next_in = (const Bytef *)bytes;
        z->z.avail_in = part;
        z->pending = true;
        if (!deflate_pieces(z, Z_NO_FLUSH, sink)) return false;
        bytes += part;
        length -= part;
    }
    return true;
}

bool gzip_flush(gzip *z, byte_sink sink) {
    if (!z->pending) return true;
    z->pending = false;
    return deflate_pieces(z, Z_SYNC_FLUSH, sink);
}

bool gzip_end(gzip *z, byte_sink sink) {
    return deflate_pieces(z, Z_FINISH, sink);
}

char *gzip_whole(const char *bytes, size_t length, size_t *compressed) {
    z_stream z = {0};
    char *out = length < INT_MAX ? malloc(length) : NULL;
    if (!out || !deflate_begin(&z)) {
        free(out);
        return NULL;
    }
    z.next_in = (const Bytef *)bytes;
    z.avail_in = (uInt)length;
    z.next_out = (Bytef *)out;
    z.avail_out = (uInt)length;
    bool done = deflate(&z, Z_FINISH) == Z_STREAM_END;
    *compressed = length - z.avail_out;
    deflateEnd(&z);
    if (done) return out;
    free(out);
    return NULL;
}

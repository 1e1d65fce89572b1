/* gzip.h — gzip compression of response bodies, whole or in pieces. */
#pragma once

#include "api/write/row_writer.h"

typedef struct gzip gzip;

gzip *gzip_open(void); /* NULL if out of memory */
void gzip_close(gzip *z);

/* Each function writes compressed bytes to the sink and returns false if the sink or zlib fails. After a flush the
 * client can decompress all bytes written so far. After gzip_end no more bytes may be written. */
bool gzip_write(gzip *z, const char *bytes, size_t length, byte_sink sink);
bool gzip_flush(gzip *z, byte_sink sink);
bool gzip_end(gzip *z, byte_sink sink);

/* Returns the compressed bytes, which the caller frees. If the compressed bytes would not be shorter, or if out of
 * memory, returns NULL. */
char *gzip_whole(const char *bytes, size_t length, size_t *compressed);

/* gzip.h — bodies compressed with zlib, whole or as they are written. */
#ifndef HAMEL_SERVER_HTTP_GZIP_H
#define HAMEL_SERVER_HTTP_GZIP_H

#include "api/row_sink.h"

typedef struct gzip gzip;

gzip *gzip_open(void); /* NULL without memory */
void gzip_close(gzip *z);

/* Each passes what comes out to the sink and returns false when that refuses or zlib fails. After a flush all that was
 * written so far can be read; after the end nothing may follow. */
bool gzip_write(gzip *z, const char *bytes, size_t length, byte_sink sink);
bool gzip_flush(gzip *z, byte_sink sink);
bool gzip_end(gzip *z, byte_sink sink);

/* The bytes compressed; free() them. NULL without memory, or when they do not get shorter. */
char *gzip_whole(const char *bytes, size_t length, size_t *compressed);

#endif

/* regular_file.h — reads the files that an operator names: configuration, tokens, certificates. */
#pragma once

#include <cjson/cJSON.h>
#include <stddef.h>

enum { FILE_REASON_BYTES = 80 };

/* Returns the content of a regular file, NUL-terminated, with its length in *length; the caller frees it. Returns NULL
 * and fills `why` if the file cannot be read, is larger than `most` bytes, or is not a regular file. Other files are
 * refused because opening or reading a FIFO or a device may block forever. */
char *regular_file_read(const char *path, size_t most, size_t *length, char why[FILE_REASON_BYTES]);

/* Reads a regular file that contains JSON; the caller deletes the tree. On failure returns NULL with a message that
 * names the file and the position. */
cJSON *json_file_read(const char *path, size_t most, char *message, size_t room);

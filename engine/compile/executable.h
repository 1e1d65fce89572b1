/* executable.h — memory that holds machine code.
 *
 * No page is writable and executable at the same time, and no mapping changes between the two. The bytes are written
 * through one mapping of an anonymous file. It is unmapped before the file is mapped for execution and sealed. This
 * works under systemd's MemoryDenyWriteExecute. If the system also denies this, executable_make returns NULL. */
#pragma once

#include <stddef.h>

/* Returns an executable copy of code[size], or NULL if the system denies such memory. */
void *executable_make(const void *code, size_t size);
void executable_free(void *code, size_t size); /* the size passed to executable_make; NULL is ignored */

/* executable.h — memory that holds machine code.
 *
 * No page is ever writable and executable, and none changes from one to the other: the bytes are written through one
 * mapping of an anonymous file, which is gone before the same file is mapped for execution, and are then sealed. This
 * works under systemd's MemoryDenyWriteExecute; where even that is denied there is no code. */
#ifndef HAMEL_COMPILE_EXECUTABLE_H
#define HAMEL_COMPILE_EXECUTABLE_H

#include <stddef.h>

/* A copy of code[size], or NULL where the system does not give such memory. */
void *executable_make(const void *code, size_t size);
void executable_free(void *code, size_t size); /* as made; NULL is nothing */

#endif

/* Loaded before Node's own code, it makes Node-API refuse memory that is not V8's, as it does in Electron. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

/* The version that dlsym had first in glibc. */
#ifdef __aarch64__
#define FIRST "GLIBC_2.17"
#else
#define FIRST "GLIBC_2.2.5"
#endif

/* napi_no_external_buffers_allowed */
static int refuse(void) { return 22; }

/* An addon finds Node's functions by their names. */
void *dlsym(void *restrict handle, const char *restrict name) {
  static void *(*found)(void *, const char *);
  if (!found) found = dlvsym(RTLD_NEXT, "dlsym", FIRST);
  if (strcmp(name, "napi_create_external_arraybuffer") == 0) return (void *)refuse;
  return found(handle, name);
}

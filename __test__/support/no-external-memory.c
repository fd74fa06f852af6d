/* A preloaded library that makes Node-API refuse external memory, as in Electron. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

/* The first version of dlsym in glibc. */
#ifdef __aarch64__
#define FIRST "GLIBC_2.17"
#else
#define FIRST "GLIBC_2.2.5"
#endif

/* napi_no_external_buffers_allowed */
static int refuse(void) { return 22; }

/* Addons look up Node's functions by name. */
void *dlsym(void *restrict handle, const char *restrict name) {
  static void *(*found)(void *, const char *);
  if (!found) found = dlvsym(RTLD_NEXT, "dlsym", FIRST);
  if (strcmp(name, "napi_create_external_arraybuffer") == 0) return (void *)refuse;
  return found(handle, name);
}

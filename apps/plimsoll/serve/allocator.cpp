// Configures jemalloc, which is linked into the program: a request makes thousands of small allocations, and
// glibc's allocator took a sixth of its time. One arena is enough for the few threads, each with a small
// cache. Unused memory returns to the system within a second.
extern "C" {
// The name is jemalloc's: it reads the variable before main() begins.
extern const char* malloc_conf;
const char* malloc_conf =
    "narenas:1,dirty_decay_ms:1000,muzzy_decay_ms:0,background_thread:true,lg_tcache_max:12";
}

// How jemalloc, which is linked into the program, shares memory out: a request makes thousands of small
// allocations, and glibc's allocator took a sixth of its time. One arena is enough for the few threads that
// there are, each with a small cache of its own, and what a crowd of requests has left goes back to the
// system within a second.
extern "C" {
// The name is jemalloc's: it reads the variable before main() begins.
extern const char* malloc_conf;
const char* malloc_conf =
    "narenas:1,dirty_decay_ms:1000,muzzy_decay_ms:0,background_thread:true,lg_tcache_max:12";
}

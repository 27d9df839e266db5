#include "serve/startup_code.hpp"

#include <cstddef>

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace plimsoll {
namespace {

// Only read-only code can be dropped: it is the same as in the file. Other pages may have been changed.
int let_go_of_code(dl_phdr_info* library, std::size_t /*size*/, void* /*nothing*/) {
  const auto page = static_cast<ElfW(Addr)>(::sysconf(_SC_PAGESIZE));
  for (ElfW(Half) i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = library->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0 || (part.p_flags & PF_W) != 0) continue;
    const ElfW(Addr) begin = (library->dlpi_addr + part.p_vaddr) / page * page;
    const ElfW(Addr) end = library->dlpi_addr + part.p_vaddr + part.p_filesz;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader tells addresses as numbers
    (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void let_go_of_startup_code() {
  ::dl_iterate_phdr(let_go_of_code, nullptr);
}

}  // namespace plimsoll

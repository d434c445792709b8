// Settings of the whole process, for a program to make once at its start. The library itself makes none.
#pragma once

namespace eignn {

/// Tells glibc's allocator to keep freed memory instead of returning it to the system. By default every
/// block beyond 32 MB is unmapped when it is freed, and mapping it again costs a page fault for every 4 KB:
/// on graphs of some thousand nodes a fifth of an epoch. It cannot be undone, and the process then keeps the
/// memory of its largest moment. Returns whether the allocator took the setting: not with another C library.
bool keep_freed_memory();

}  // namespace eignn

/* Remembers what a program has synced, so that a power cut can be played after the program was killed.
 *
 * Loaded with LD_PRELOAD. For each journal file (its name contains "journal.db"), a call of fsync or fdatasync copies the
 * file to NAME.synced. What was written later may be lost or torn; what is in the copy may not. The shared-memory file of
 * SQLite is never synced and does not survive. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_journal(int fd, char *path, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, size - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return strstr(path, "journal.db") && !strstr(path, "-shm") && !strstr(path, ".synced");
}

static void keep_copy(int fd) {
    char path[4096], copy[4200], part[4200];
    if (!is_journal(fd, path, sizeof path)) return;
    snprintf(copy, sizeof copy, "%s.synced", path);
    snprintf(part, sizeof part, "%s.synced.part", path);
    int in = open(path, O_RDONLY | O_CLOEXEC), out = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    char buffer[65536];
    ssize_t got;
    int complete = in >= 0 && out >= 0;
    while (complete && (got = read(in, buffer, sizeof buffer)) > 0) complete = write(out, buffer, got) == got;
    if (in >= 0) close(in);
    if (out >= 0) close(out);
    if (complete) rename(part, copy);
}

int fsync(int fd) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    int result = real(fd);
    if (result == 0) keep_copy(fd);
    return result;
}

int fdatasync(int fd) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    int result = real(fd);
    if (result == 0) keep_copy(fd);
    return result;
}

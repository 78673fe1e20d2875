// Keeps a target valid while its directory is empty.

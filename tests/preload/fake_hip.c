/* Like fake_cuda.c, with the functions of HIP, which remembers the last error of each thread. */
char *fake_device_begin, *fake_device_end;
long fake_device_queries;
static _Thread_local int last_error;

int hipPointerGetAttributes(void *attributes, const void *pointer) {
  const char *p = pointer;
  ++fake_device_queries;
  if (p < fake_device_begin || p >= fake_device_end) return last_error = 1;
  *(int *)attributes = 2;
  return 0;
}

int hipPeekAtLastError(void) { return last_error; }

void fake_failure(int error) { last_error = error; }

int hipGetLastError(void) {
  const int last = last_error;
  last_error = 0;
  return last;
}

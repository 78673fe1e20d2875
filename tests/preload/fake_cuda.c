/* A fake device runtime. It knows one stretch of "device" memory, which the program sets, and no other memory. */
char *fake_device_begin, *fake_device_end;
long fake_device_queries;

int cuPointerGetAttribute(void *data, int attribute, unsigned long long pointer) {
  const char *p = (const char *)pointer;
  ++fake_device_queries;
  if (attribute != 2 || p < fake_device_begin || p >= fake_device_end) return 1;
  *(unsigned *)data = 2;
  return 0;
}

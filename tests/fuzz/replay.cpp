// Takes the place of libFuzzer: gives the target each of the files that are named.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int count, char** names) {
  for (int i = 1; i < count; ++i) {
    std::printf("%s\n", names[i]);
    std::fflush(stdout);  // the last line names the input that ends the process
    std::ifstream file(names[i], std::ios::binary);
    if (!file) return 2;
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
}

// Which part of its machine's processors a rank runs on, as Linux tells in /sys.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace shoal {

// What the ranks of one node of a layout share: the machine, or one socket, NUMA domain or level 3 cache of it.
enum class node_level { machine, socket, numa, cache };

// "socket", "numa", "cache"; other texts mean none of them.
std::optional<node_level> parse_node_level(std::string_view text);

// The domain where all of these CPUs lie, as the list of its CPUs that Linux gives ("0-15,32-47"); equal lists are the same
// domain. Empty where they lie in several, where nothing is known of them, and for the machine. `system` is where Linux
// describes the devices.
std::string domain_of(std::span<const int> cpus, node_level level,
                      const std::filesystem::path& system = "/sys/devices/system");

}  // namespace shoal
